"""A word that was chosen stays chosen when the text changes, wherever it stands then."""

from collections.abc import Sequence

import streamlit as st

from viz.frame import state
from viz.params.memory import Remembered


def place_of_word(before: Sequence[str], now: Sequence[str], place: int, *, or_place: bool = True) -> int | None:
    """Where a word of one text is in another: the same word, its first, second ... occurrence as before.

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


def _words(name: str) -> Remembered[tuple[str, ...] | None]:
    """Return the text in which a parameter counts words."""
    return Remembered(f"_words_of_{name}", default=None)


def follow(name: str, words: tuple[str, ...], *, locked_at_first: bool = True) -> None:
    """Let a parameter that counts the words of a text follow its word when the text changes, or forget it.

    What nobody chose is the default of the new text, whichever word that is. Where a text locks none by itself, the
    word that was locked is kept like a choice: the visitor is looking at it.

    Args:
        name: of the parameter, before it is declared in this run.
        words: of the text.
        locked_at_first: whether this text has a default that is a word.
    """
    place, owner = st.session_state.get(name), _words(name)
    before = owner.read()
    owner.set(words)
    if before is None or before == words or state.is_of_before(name):
        return
    chosen = state.is_chosen(name)
    if not chosen and locked_at_first:
        return
    found = None
    if isinstance(place, int) and 0 <= place < len(before):
        found = place_of_word(before, words, place, or_place=chosen)
    if found is None:
        state.forget(name)
    else:
        state.choose(name, found)
