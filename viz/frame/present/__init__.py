"""A page in front of a class: large, one section at a time, driven by keys, with the notes in a window of their own.

Without ``present=1`` or ``notes=1`` in the link nothing of it is imported, computed or sent.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from viz.frame import view
from viz.frame.view.assets import style
from viz.text import Translate


def begin() -> None:
    """Make the page large."""
    if view.current().present:
        st.html(style("present.css"))


def end(t: Translate, page: str, pages: Sequence[str], sections_of: Callable[[str], Sequence[str]]) -> None:
    """Draw the keys and the buttons; below what is shown, because they need its link.

    Args:
        t: the texts.
        page: the page that is open.
        pages: all of them, in their order.
        sections_of: gives the names of a page's sections.
    """
    if view.current().present:
        from viz.frame.present.presenter import draw as draw_keys

        draw_keys(t, page, pages, sections_of)


def notes(t: Translate) -> None:
    """The presenter's own window: it is told what to show by the page that is presented, in the same browser."""
    from viz.frame.present.presenter import draw_notes

    st.html(style("notes.css"))
    draw_notes(t)
