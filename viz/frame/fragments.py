"""The page, and in it each section, as Streamlit fragments: a control has only the fragment around it drawn again.

A fragment holds small values, never tensors or traces: those come from the cache again in each of its runs. The values
that everything else on the screen was drawn with are noted; if a control changes one of these, all is drawn again.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st

from viz.components.mount import after_callbacks
from viz.errors import ModelError
from viz.frame import state, waiting
from viz.frame.share import figure_menu
from viz.frame.terms import marks


def fragment(name: str, draw: Callable[[], None], on_error: Callable[[ModelError], None]) -> None:
    """Draw a part of the screen as a fragment.

    Args:
        name: of the part, to which the parameters belong that it declares.
        draw: draws it. Streamlit holds it until what is around it is drawn again, so it may hold small values only.
        on_error: says what went wrong with a computation.
    """
    path, terms, is_first = (*state.current_part(), name), marks.marked_terms(), True

    def run() -> None:
        nonlocal is_first
        is_alone, is_first = not is_first, False
        if is_alone and not state.begin_part(path):
            st.rerun()
        marks.begin(terms)
        try:
            with waiting.writing(name, is_alone=is_alone), state.part(path), after_callbacks(partial(_redraw, path)):
                draw()
        except ModelError as error:  # too busy, or what was asked for failed: what was typed is still there
            on_error(error)
        if is_alone:
            if figure_menu.is_out_of_date():
                st.rerun()
            state.end_part(path)

    st.fragment(run, key=None if path[:-1] else name)()


def _redraw(path: tuple[str, ...]) -> None:
    """In a callback: have the page drawn again, and not a section alone, if it depends on what was changed."""
    if len(path) > 1 and state.is_out_of_date(path):
        st.rerun(path[0])
