"""A sentence with arcs from a word to the words it looks at, its twin, and the box for a sentence of one's own."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.start.own_sentence import read_sentence
from pages.start.sentences import WHOLE, pairs
from viz import limits
from viz.components.mount import mount
from viz.frame import state
from viz.frame.connection import arrival, loading
from viz.frame.links import SHARED
from viz.frame.modes import figure_facts
from viz.frame.sidebar import file_of
from viz.text import sentences, translator

HEADS = "heads"
SENTENCE = "sentence"
"""The parameter of the link that holds the user's own sentence."""
_KEY, _TYPED = "arcs", "_typed"


def open_typed() -> None:
    """If all heads of a sentence were asked for: open Heads with it, and end this run."""
    if st.session_state.pop(_TYPED, False):
        arrival.stay_untouched(*set(SHARED) - {"text"})  # then a model reads it that knows the language
        st.switch_page(file_of(HEADS))


def draw(lang: str) -> None:
    """Draw the user's own sentence, or the one on file; when it is painted, what other pages need is loaded."""
    prefix = "start.arcs_"
    words = {name.removeprefix(prefix): text for name, text in sentences(lang).items() if name.startswith(prefix)}
    pair = _own(lang) or {**pairs()[lang], "at": None}
    data = {**pair, "lang": lang, "whole": WHOLE, "words": words, "longest": limits.CHARACTERS}
    place = sentences(lang)["head_grid.layer_head"].format(layer=data["layer"], head=data["head"])
    figure_facts.note([f"{data['model']} · {place}"])
    data["asks"] = loading.is_wanted()
    mount("start/arcs", key=_KEY, data=data, on_typed_change=_take_text, on_painted_change=_load)


def _own(lang: str) -> Mapping[str, Any] | None:
    """Return the user's own sentence as one head reads it, None if there is none, or say what is wrong with it."""
    text = state.text(SENTENCE, "", limits.CHARACTERS)
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


def _load() -> None:
    loading.begin("viz.frame.page", f"pages.{HEADS}.page")


def _take_text() -> None:
    """Take over what was typed: it is drawn here, or opened on Heads if all heads were asked for."""
    typed = st.session_state[_KEY].get("typed")
    text = typed.get("text") if isinstance(typed, Mapping) else None
    if not isinstance(typed, Mapping) or not isinstance(text, str):
        return
    if typed.get("heads") is True:
        _open_heads(text)
    else:
        state.choose(SENTENCE, text[: limits.CHARACTERS])


def _open_heads(text: str) -> None:
    """Have the next run open Heads on a text by itself, and no step of a lesson."""
    state.choose("text", text[: limits.CHARACTERS])
    for name in ("section", "lesson", "lesson_step"):
        state.forget(name)
    st.session_state[_TYPED] = True
