"""Names of tokens in sentences."""

from collections.abc import Sequence

from viz.text import isolate


def list_token(place: int, label: str) -> str:
    """Return a token's label with its place before it, as lists of tokens have it.

    Example:
        >>> list_token(2, "cat")
        '2 · cat'
    """
    return f"{place} · {isolate(label)}"


def name_token(labels: Sequence[str], place: int, number: int | None = None) -> str:
    """Return a token's label; where others have the same, with its place before it, as lists of tokens have it.

    The number of its first token stands for the place where pieces are merged or tokens hidden.

    Example:
        >>> name_token(("a", "cat", "a"), 1), name_token(("a", "cat", "a"), 2)
        ('cat', '2 · a')
    """
    label = labels[place]
    return label if labels.count(label) == 1 else list_token(place if number is None else number, label)
