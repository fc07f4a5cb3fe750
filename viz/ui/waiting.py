"""While a visitor waits for a turn: which place in the line is theirs, said at the foot of the window."""

import threading
import time

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check

from viz.models.registry import ModelError
from viz.text import translator
from viz.ui import limits
from viz.ui.turns import Ticket, Turns, come

_PLACE = "_waiting"
LOOK, PATIENCE = 0.1, 0.7
"""Seconds between two looks, and before anything is said: most waits are over by then."""


def place() -> None:
    """Make room for it, in every run, which stands in the line from now on; what comes and goes there moves nothing."""
    come()
    with st.container(key="waiting"):
        st.session_state[_PLACE] = st.empty()


def called_away() -> None:
    """If the visitor whose run this is has left or clicked elsewhere, Streamlit ends the run here."""
    if ask := get_run_yield_check():
        ask()


def until(event: threading.Event, ticket: Ticket, turns: Turns) -> None:
    """Wait on behalf of a visitor. If they leave or click elsewhere, Streamlit ends their run here.

    Raises:
        ModelError: "busy", if it takes longer than anybody should wait.
    """
    left_or_clicked = get_run_yield_check()
    if left_or_clicked is None:  # nobody watches
        event.wait()
        return
    began, said = time.monotonic(), -1
    while not event.wait(LOOK):
        left_or_clicked()
        waited = time.monotonic() - began
        if waited > limits.WAIT:
            raise ModelError("busy", seconds=limits.WAIT)
        if waited > PATIENCE and (now := turns.place(ticket)) != said:
            _say(now)
            said = now
    if said >= 0:
        st.session_state[_PLACE].empty()


def _say(place: int) -> None:
    t = translator(st.session_state["lang"])
    st.session_state[_PLACE].info(t("waiting.place", n=place) if place else t("waiting.working"))
