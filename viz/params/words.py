"""A word that was chosen stays chosen when the text changes, wherever it stands then."""

from collections.abc import Sequence


def place_of_word(before: Sequence[str], now: Sequence[str], place: int, *, or_place: bool = True) -> int | None:
    """Return where a word of one text is in another: the same word, its first, second ... occurrence as before.

    Args:
        before: the words of the one text.
        now: the words of the other.
        place: where the word is in ``before``.
        or_place: if the word is not there, what stands in its place in a text of as many words.

    Example:
        >>> place_of_word(("a", "b", "a"), ("a", "c", "c", "a"), 2)
        3
        >>> place_of_word(("a", "b"), ("a", "c"), 1), place_of_word(("a", "b"), ("a",), 1)
        (1, None)
    """
    word, nth = before[place], before[:place].count(before[place])
    places = [i for i, other in enumerate(now) if other == word]
    if nth < len(places):
        return places[nth]
    return place if or_place and len(before) == len(now) else None
