"""Finding a chosen word again after the text has changed."""

from collections.abc import Sequence


def place_of_word(before: Sequence[str], now: Sequence[str], place: int, *, or_place: bool = True) -> int | None:
    """Return the position of a word in a changed text: the same occurrence (first, second ...) of the same word.

    Args:
        before: the words of the old text.
        now: the words of the new text.
        place: the position of the word in ``before``.
        or_place: if the word is missing, return ``place`` for a text of the same length.

    Example:
        >>> place_of_word(("a", "b", "a"), ("a", "c", "c", "a"), 2)
        3
        >>> place_of_word(("a", "b"), ("a", "c"), 1), place_of_word(("a", "b"), ("a",), 1)
        (1, None)
    """
    word, nth = before[place], before[:place].count(before[place])
    places = [i for i, other_word in enumerate(now) if other_word == word]
    if nth < len(places):
        return places[nth]
    return place if or_place and len(before) == len(now) else None
