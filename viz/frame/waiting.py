"""One page is written at a time; while a visitor waits, which place in the line is theirs is said below the page.

The lines, and what is kept of what was computed, are there before anything that computes is imported.
"""

import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

import streamlit as st

from viz import limits
from viz.errors import ModelError
from viz.frame.connection.runs import is_run, raise_if_left
from viz.scheduler.cache import Store
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import Kind, Ticket, Turns, come
from viz.text import translator

_PLACE = "_waiting"
LOOK, PATIENCE = 0.05, 0.7
"""Seconds between two looks, and before anything is said: most waits are over by then."""

pages = Turns(limits.PAGES, sys.maxsize)
memory = Ceiling(spare=limits.PASS_BYTES)
"""A public server says what the most is (viz/host/readiness.py)."""
_held: ContextVar[Ticket | None] = ContextVar("held", default=None)


@contextmanager
def writing(part: str = "", *, is_alone: bool = True) -> Iterator[None]:
    """Write a page in turn: first come, first served, whatever it asks for.

    Args:
        part: of the page, if it is one.
        is_alone: False if the page around it is being written, and has its turn.

    Raises:
        ModelError: "busy", if the turn does not come.
    """
    with memory.visit(come()) if is_alone else nullcontext():
        with st.container(key=f"waiting{part and '_'}{part}"):  # what comes and goes there moves nothing
            st.session_state[_PLACE] = st.empty()
        if is_alone:
            _take()
        try:
            yield
        finally:
            if is_alone:
                _give()


@contextmanager
def aside() -> Iterator[None]:
    """Let other pages be written meanwhile: this one waits, or is computed.

    Whoever enters must hold no lock that another page may want; Python 3.11's ``cached_property`` holds one.
    """
    if _held.get() is None:  # it is no page: one that is computed beside them, or a part that draws itself
        yield
        return
    _give()
    try:
        yield
    finally:
        _take()


def _take() -> None:
    turn = threading.Event()
    ticket = pages.enter("page", turn.set)
    try:
        until(turn, ticket, pages)
    except BaseException:
        if not pages.drop(ticket):
            pages.leave(ticket)
        raise
    _held.set(ticket)


def _give() -> None:
    if ticket := _held.get():
        _held.set(None)
        pages.leave(ticket)


def until(event: threading.Event, ticket: Ticket, turns: Turns) -> None:
    """Wait on behalf of a visitor. If they leave or click elsewhere, Streamlit ends their run here.

    Raises:
        ModelError: "busy", if it takes longer than anybody should wait.
    """
    if not is_run():  # nobody watches
        event.wait()
        return
    began, shown = time.monotonic(), -1
    while not event.wait(LOOK):
        raise_if_left()
        waited = time.monotonic() - began
        if waited > limits.WAIT_SECONDS:
            raise ModelError("busy", seconds=limits.WAIT_SECONDS)
        if waited > PATIENCE and (place := turns.place(ticket)) != shown:
            _say(place)
            shown = place
    if shown >= 0:
        st.session_state[_PLACE].empty()


def for_the_server(is_warm: threading.Event) -> None:
    """Wait until this server can compute; other pages are written meanwhile, and this one says that it comes."""
    with aside():
        began, is_said = time.monotonic(), False
        while not is_warm.wait(LOOK):
            raise_if_left()
            if not is_said and time.monotonic() - began > PATIENCE:
                st.session_state[_PLACE].info(translator(st.session_state["lang"])("waiting.warming"))
                is_said = True
    if is_said:
        st.session_state[_PLACE].empty()


def _say(place: int) -> None:
    t = translator(st.session_state["lang"])
    st.session_state[_PLACE].info(t("waiting.place", n=place) if place else t("waiting.working"))


turns = Turns(
    limits.FORWARD_PASSES + limits.QUICK,
    limits.QUEUE,
    {
        "sentence": Kind(as_large=limits.SENTENCE_PASS_BYTES / limits.PASS_BYTES),
        "text": Kind(at_once=limits.FORWARD_PASSES, beside_quick=limits.TEXT_PASSES),
        "lesson": Kind(at_once=limits.LESSONS),
        "measure": Kind(at_once=limits.MEASUREMENTS),
        "long": Kind(
            at_once=limits.LONG_PASSES,
            as_large=max(1, math.ceil(limits.LONG_TOKENS * limits.LONG_TOKEN_BYTES / limits.PASS_BYTES)),
        ),
        "atlas": Kind(at_once=limits.ATLAS_PASSES, anew=True),
        "atlas_by_chance": Kind(
            at_once=limits.ATLAS_PASSES, anew=True, as_large=math.ceil(limits.ATLAS_BYTES / limits.PASS_BYTES)
        ),
    },
    memory,
    limits.QUICK,
)
models = Store(limits.MODELS_BYTES, Turns(1, limits.QUEUE), limits.COMPUTATION_SECONDS, aside=aside)
results = Store(
    limits.CACHE_BYTES,
    turns,
    limits.COMPUTATION_SECONDS,
    raise_if_left,
    aside,
    limits.SHORT_SECONDS,
    models.storages,
    limits.SMALL_BYTES,
    limits.DEAR_SECONDS,
)
long_texts = Store(
    limits.LONG_KEPT_BYTES,
    turns,
    limits.LONG_SECONDS,
    raise_if_left,
    aside,
    limits.SHORT_SECONDS,
    models.storages,
    dear=limits.DEAR_SECONDS,
)
