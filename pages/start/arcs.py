"""A sentence with arcs from a word to the words it looks at, its twin, and the box for a sentence of one's own."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.start.own_sentence import read_sentence
from pages.start.sentences import WHOLE, pairs
from viz import limits
from viz.components import kinds
from viz.components.view import View
from viz.frame.connection import arrival, loading
from viz.frame.links import SHARED
from viz.frame.modes import figure_facts
from viz.frame.shared import SECTION, TEXT
from viz.frame.sidebar import file_of
from viz.params import Parameter, Text
from viz.params.memory import Remembered
from viz.text import sentences, translator

HEADS = "heads"
SENTENCE = Text("sentence", longest=limits.CHARACTERS)
"""The user's own sentence."""
_TYPED: Remembered[bool] = Remembered("_typed", default=False)
"""True if all heads of a sentence were asked for."""
ARCS = View(
    "start/arcs",
    words="start.arcs_",
    sends={
        "typed": kinds.Fields(text=kinds.Text(limits.CHARACTERS), heads=kinds.Optional(kinds.Flag())),
        "painted": kinds.Flag(),
    },
)


def open_typed() -> None:
    """If all heads of a sentence were asked for: open Heads with it, and end this run."""
    if _TYPED.take():
        arrival.stay_untouched(*set(SHARED) - {"text"})  # then a model reads it that knows the language
        st.switch_page(file_of(HEADS))


def draw(lang: str) -> None:
    """Draw the user's own sentence, or the one on file; when it is painted, what other pages need is loaded."""
    pair = _own(lang) or {**pairs()[lang], "at": None}
    data = {**pair, "lang": lang, "whole": WHOLE, "longest": limits.CHARACTERS}
    place = sentences(lang)["head_grid.layer_head"].format(layer=data["layer"], head=data["head"])
    figure_facts.note([f"{data['model']} · {place}"])
    data["asks"] = loading.is_wanted()
    ARCS.mount(key="arcs", data=data, on={"typed": _show_text, "painted": _load})


def _own(lang: str) -> Mapping[str, Any] | None:
    """Return the user's own sentence as one head reads it, None if there is none, or say what is wrong with it."""
    text = SENTENCE.read()
    if not text.strip():
        return None
    try:
        found = read_sentence(text)
    except ValueError as error:
        loading.module("viz.frame.scene").say_error(translator(lang), error)
        return None
    if found is None:
        _open_heads(text)
        open_typed()
    return found


def _load(_: bool) -> None:
    loading.begin("viz.frame.page", f"pages.{HEADS}.page")


def _show_text(typed: Mapping[str, Any]) -> None:
    """Draw what was typed, or open it on Heads if all heads were asked for."""
    if typed.get("heads"):
        _open_heads(typed["text"])
    else:
        SENTENCE.choose(typed["text"])


def _open_heads(text: str) -> None:
    """Have the next run open Heads on a text by itself, and no step of a lesson."""
    TEXT.choose(text[: limits.CHARACTERS])
    SECTION.forget()
    for name in ("lesson", "lesson_step"):
        Parameter[str](name).forget()
    _TYPED.set(True)
