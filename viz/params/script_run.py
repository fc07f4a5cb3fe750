"""The run of a script for one user, and its end where the user has left or clicked elsewhere."""

from contextvars import ContextVar

import streamlit as st

from viz.params.session import RECORD

_is_run: ContextVar[bool | None] = ContextVar("is_run", default=None)


def mark_background() -> None:
    """Detach this thread from any script run; Streamlit's own getter would log a warning."""
    _is_run.set(False)


def is_run() -> bool:
    """Return True if this thread runs the script, or one of its callbacks, for a user."""
    cached = _is_run.get()
    if cached is None:
        cached = RECORD.name in st.session_state
        _is_run.set(cached)
    return cached


def raise_if_disconnected() -> None:
    """End this run if its user has left or clicked elsewhere: Streamlit does so where the session's state is read."""
    if _is_run.get() is not False:
        _is_run.set(RECORD.name in st.session_state)
