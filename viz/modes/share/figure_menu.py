"""What the menu of a picture says of it: whose numbers, on which text. Caption and link it reads off the page.

Every picture has the same menu, put there by the browser (``client/frame/figures.js``), which loads what it does when
it is opened for the first time.
"""

from typing import Any

import streamlit as st

from viz.components.mount import address
from viz.frame import modes
from viz.frame.modes.figure_facts import facts
from viz.text import words_of

MENU = "figure/menu"
_TOLD = "_figure_facts_told"


def is_out_of_date() -> bool:
    """Return whether the browser was told something else of the pictures than holds now."""
    return bool(facts() != st.session_state.get(_TOLD))


def tell(lang: str) -> dict[str, Any] | None:
    """What the browser is told of all pictures of this run; None where there is no menu: before a class, on paper."""
    lines, apart = st.session_state[_TOLD] = facts()
    if not modes.shows("figure_menu"):
        return None
    first = st.session_state.get("image", "png")
    return {
        "words": words_of(lang, "figure_menu"),
        "menu": address(MENU),
        "facts": lines,
        "apart": apart,
        "first": first,
    }
