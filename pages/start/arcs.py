"""A sentence with arcs from a word to the words it looks at, its twin, and the box for a sentence of one's own."""

from collections.abc import Mapping

import streamlit as st

from pages.start.sentences import WHOLE, pairs
from viz import limits
from viz.components.mount import mount
from viz.frame import state
from viz.frame.connection import arrival, loading
from viz.frame.share import figure_menu
from viz.frame.sidebar import file_of
from viz.frame.terms.links import SHARED
from viz.text import sentences

HEADS = "heads"
_KEY, _TYPED = "arcs", "_typed"


def open_typed() -> None:
    """If a sentence was typed: open Heads with it, and end this run."""
    if st.session_state.pop(_TYPED, False):
        arrival.stay_untouched(*set(SHARED) - {"text"})  # then a model reads it that knows the language
        st.switch_page(file_of(HEADS))


def draw(lang: str) -> None:
    """Draw it from the weights on file; when it is painted, what other pages compute with is loaded."""
    prefix = "start.arcs_"
    words = {name.removeprefix(prefix): text for name, text in sentences(lang).items() if name.startswith(prefix)}
    data = {
        **pairs()[lang],
        "whole": WHOLE,
        "words": words,
        "longest": limits.CHARACTERS,
        "asks": loading.is_wanted(),
    }
    place = sentences(lang)["head_grid.layer_head"].format(layer=data["layer"], head=data["head"])
    figure_menu.note([f"{data['model']} · {place}"])
    mount("start/arcs", key=_KEY, data=data, on_typed_change=_take_text, on_painted_change=_load)


def _load() -> None:
    loading.begin("viz.frame.page", f"pages.{HEADS}.page")


def _take_text() -> None:
    """Take over what was typed: the run that follows opens it, as a text by itself and no step of a lesson."""
    typed = st.session_state[_KEY].get("typed")
    text = typed.get("text") if isinstance(typed, Mapping) else None
    if isinstance(text, str):
        state.choose("text", text[: limits.CHARACTERS])
        for name in ("section", "lesson", "lesson_step"):
            state.forget(name)
        st.session_state[_TYPED] = True
