"""The picture of numbers that can be changed, as both sections mount it, and what comes back from it."""

from collections.abc import Collection, Mapping
from functools import partial

import streamlit as st

from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import MOST, from_code, to_code
from pages.step_by_step.own_numbers.pictures import OwnPicture
from viz import limits
from viz.components.mount import mount
from viz.params import Text
from viz.text import Translate

FIRST_PLACE = "a0-1-0"
"""How the second word looks at the first: this number is explained first."""


def edit(
    t: Translate,
    example: OwnExample,
    numbers: Text,
    place: Text,
    editable: Collection[str],
    *,
    names: Text | None = None,
) -> None:
    """Draw the picture; a number that is changed goes into its parameter.

    Args:
        t: the texts in the visitor's language.
        example: the numbers, and what follows from them.
        numbers: the parameter whose code holds the numbers.
        place: the parameter of the number that is explained: the one that was chosen, as long as it is there.
        editable: names of the matrices that may be changed.
        names: the parameter that holds the words, if they may be changed.
    """
    picture = OwnPicture(t, example, editable)
    first = FIRST_PLACE if picture.has(FIRST_PLACE) else "a0-0-0"
    at = place.variant(default=first, allows=picture.has).read()
    words = {key: t(f"step_by_step.hand_{key}") for key in ("number", "word", "choose", "problem")}
    words["change"] = t("step_by_step.own_numbers.change")
    key = f"view_{numbers.name}"
    mount(
        "step_by_step/three_words",
        key=key,
        data={
            "groups": picture.groups(renames=names is not None),
            "follows": picture.follows(),
            "at": at,
            "explained": picture.explained(at),
            "words": words,
            "most": MOST,
        },
        on_chosen_change=partial(_choose, key, place),
        on_edited_change=partial(_edit, key, numbers, tuple(editable)),
        on_renamed_change=partial(_rename, key, names),
    )


def _choose(key: str, place: Text) -> None:
    """Take over which number is to be explained; the rule of the parameter is asked in the next run."""
    sent = st.session_state[key].get("chosen")
    if isinstance(sent, Mapping) and isinstance(at := sent.get("at"), str):
        place.set(at)


def _edit(key: str, numbers: Text, editable: tuple[str, ...]) -> None:
    """Take over a number that was changed, if it is one and has a place where it may be."""
    sent = st.session_state[key].get("edited")
    try:
        if sent["matrix"] in editable:
            places = {part: sent[part] for part in ("matrix", "row", "column", "value")}
            numbers.set(to_code(from_code(numbers.value).with_number(**places)))
    except (KeyError, TypeError, ValueError):
        return


def _rename(key: str, names: Text | None) -> None:
    """Take over a word that was typed."""
    sent = st.session_state[key].get("renamed")
    try:
        if names:
            names.set(renamed(names.value, sent["row"], sent["word"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return


def renamed(code: str, row: int, word: str) -> str:
    """The words of a link with one of them replaced; where nothing stands, the language's own word is shown.

    Raises:
        ValueError: if there is no such row.

    Example:
        >>> renamed("", 2, "sun"), renamed("a||sun", 0, " moon | ")
        ('||sun', 'moon||sun')
    """
    words = (code.split("|") + [""] * limits.OWN_WORDS)[: limits.OWN_WORDS]
    if not 0 <= row < len(words):
        raise ValueError(f"no word at {row}")
    words[row] = " ".join(word.replace("|", " ").split())[: limits.HAND_CHARACTERS]
    return "|".join(words).rstrip("|")
