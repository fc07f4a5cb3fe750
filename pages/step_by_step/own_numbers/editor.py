"""The picture of numbers that can be changed, as both sections mount it, and what comes back from it."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import MOST, from_code, to_code
from pages.step_by_step.own_numbers.pictures import OwnPicture
from pages.step_by_step.printed import PRINTED, words_of
from viz import limits
from viz.frame import state
from viz.text import Translate

FIRST_PLACE = "a0-1-0"
"""How the second word looks at the first: this number is explained first."""


def edit(t: Translate, example: OwnExample, name: str, editable: Collection[str], *, word_names: str = "") -> None:
    """Draw the picture; a number that is changed goes into the parameter ``name``.

    Args:
        t: the texts in the visitor's language.
        example: the numbers, and what follows from them.
        name: of the parameter whose code holds the numbers.
        editable: names of the matrices that may be changed.
        word_names: of the parameter that holds the words, if they may be changed.
    """
    picture = OwnPicture(t, example, editable)
    at = _place(name, picture)
    data = {
        "groups": picture.groups(renames=bool(word_names)),
        "follows": picture.follows(),
        "at": at,
        "explained": picture.explained(at),
        "most": MOST,
    }
    on = {
        "chosen": partial(_choose, name),
        "edited": partial(_edit, name, tuple(editable)),
        "renamed": partial(_rename, word_names),
    }
    words = {**words_of(t), "change": t("step_by_step.own_numbers.change")}
    PRINTED.mount(key=f"view_{name}", data=data, words=words, on=on)


def _place(name: str, picture: OwnPicture) -> str:
    """Which number is explained: the one that was chosen, as long as it is there."""
    first = FIRST_PLACE if picture.has(FIRST_PLACE) else "a0-0-0"
    return state.param(_at(name), first, str, picture.has)


def _at(name: str) -> str:
    return "own_at" if name == "own" else "puzzle_at"


def _choose(name: str, chosen: Mapping[str, Any]) -> None:
    """Take over which number is to be explained; the rule of the parameter is asked in the next run."""
    if place := chosen.get("at"):
        state.put(_at(name), place)


def _edit(name: str, editable: tuple[str, ...], edited: Mapping[str, Any]) -> None:
    """Take over a number that was changed, if it has a place where it may be."""
    if edited["matrix"] in editable:
        with suppress(ValueError):
            state.put(name, to_code(from_code(st.session_state[name]).with_number(**edited)))


def _rename(name: str, new: Mapping[str, Any]) -> None:
    """Take over a word that was typed."""
    if name:
        with suppress(ValueError):
            state.put(name, renamed(st.session_state[name], **new))


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
