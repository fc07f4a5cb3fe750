"""Names of tokens in sentences."""

from collections.abc import Sequence

from viz.text.direction import isolate


def name_token(labels: Sequence[str], place: int) -> str:
    """Return a token's label; where others have the same, with its place before it, as lists of tokens have it.

    Example:
        >>> name_token(("a", "cat", "a"), 1), name_token(("a", "cat", "a"), 2)
        ('cat', '2 · a')
    """
    label = labels[place]
    return label if labels.count(label) == 1 else f"{place} · {isolate(label)}"
