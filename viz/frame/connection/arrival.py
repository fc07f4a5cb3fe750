"""How a visitor came to the page of this run: by a link, and whether anything was asked for or chosen before."""

from collections.abc import Collection

import streamlit as st

from viz.params.address import asked_link
from viz.params.session import of_session

_HERE, _LINK, _UNTOUCHED, _COMES = "_here", "_link_names", "_untouched", "_comes"


def begin() -> None:
    """Start a run, after its state: look at how it came about."""
    session, names = st.session_state, list(asked_link())
    asks_for_nothing = set(names) <= {"lang"}
    first = session.get(_HERE) is None
    session[_LINK] = names if first or of_session().is_back else []
    session[_COMES] = bool(session.pop(_UNTOUCHED, False)) and asks_for_nothing
    session[_HERE] = asks_for_nothing if first else False


def link() -> Collection[str]:
    """The names in the link that led here, if this run was opened by one: a first visit's, Back's or Forward's."""
    names: list[str] = st.session_state[_LINK]
    return names


def is_bare() -> bool:
    """Whether this is the first run of a session whose link asks for nothing, but perhaps for a language."""
    bare: bool = st.session_state[_HERE]
    return bare


def opens_section_alone() -> bool:
    """Return whether the link that led here names one section, perhaps a language, and nothing else."""
    names: list[str] = st.session_state[_LINK]
    return "section" in names and set(names) <= {"lang", "section"} and asked_link()["section"] != "all"


def is_untouched() -> bool:
    """Whether the visitor comes from a page without a text, nothing was chosen, and the link asks for nothing."""
    comes: bool = st.session_state[_COMES]
    return comes


def stay_untouched(*names: str) -> None:
    """Note for the next run that none of these parameters has been chosen, if it is so."""
    st.session_state[_UNTOUCHED] = not any(map(of_session().is_chosen, names))
