"""A sentence with arcs from a word to the words it attends to, its twin, and a box for the user's own sentence."""

import sys
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.start.own_sentence import read_sentence
from pages.start.sentences import WEIGHT_UNITS, pairs
from viz import limits
from viz.components import kinds
from viz.components.view import View
from viz.frame.connection import loading, visit
from viz.frame.links import SHARED
from viz.frame.modes import figure_facts
from viz.frame.shared import SECTION, TEXT
from viz.frame.sidebar import file_of
from viz.params import Parameter, Text
from viz.text import sentences, translator

HEADS = "heads"
SENTENCE = Text("sentence", longest=limits.CHARACTERS)
"""The user's own sentence."""
ARCS = View(
    "start/arcs",
    words="start.arcs_",
    sends={"typed": kinds.Fields(text=kinds.Text(limits.CHARACTERS)), "painted": kinds.Flag()},
)


def draw(lang: str) -> Mapping[str, Any]:
    """Draw the user's own sentence or the example, and return it; load what other pages need once it is rendered."""
    pair = _read_own_sentence(lang) or {**pairs()[lang], "at": None}
    data = {**pair, "lang": lang, "whole": WEIGHT_UNITS, "longest": limits.CHARACTERS}
    place = sentences(lang)["head_grid.layer_head"].format(layer=data["layer"], head=data["head"])
    figure_facts.note([f"{data['model']} · {place}"])
    figure_facts.draw()
    data["example"] = not SENTENCE.read().strip()
    data["asks"] = loading.is_wanted()
    on = {"typed": lambda message: SENTENCE.choose(message["text"]), "painted": _load}
    ARCS.mount(key="arcs", data=data, on=on)
    return pair


def _read_own_sentence(lang: str) -> Mapping[str, Any] | None:
    """Return the user's own sentence as one head reads it; None, and an error message, if there is none."""
    text = SENTENCE.read()
    # A user's own model reads the example, too.
    if not text.strip() and any(argument.startswith("--model") for argument in sys.argv[1:]):
        text = pairs()[lang]["sentences"][0]["text"]
    if not text.strip():
        return None
    try:
        sentence = read_sentence(text)
    except ValueError as error:
        loading.module("viz.frame.scene").say_error(translator(lang), error)
        return None
    if sentence is None:
        _open_heads(text)
    return sentence


def _load(_: bool) -> None:
    loading.begin("viz.frame.page", f"pages.{HEADS}.page")


def _open_heads(text: str) -> None:
    """Open Heads on a text, outside any lesson, and end this run."""
    TEXT.choose(text[: limits.CHARACTERS])
    SECTION.forget()
    for name in ("lesson", "lesson_step"):
        Parameter[str](name).forget()
    # The model stays the default of the text's language.
    visit.stay_untouched(*set(SHARED) - {"text"})
    st.switch_page(file_of(HEADS))
