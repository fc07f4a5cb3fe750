"""One page is written at a time; while a visitor waits, which place in the line is theirs is said below the page.

Each app has queues and caches of its own (:func:`stores`), which are there before anything that computes is imported.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits
from viz.errors import ModelError
from viz.frame.connection.runs import is_run, raise_if_left
from viz.frame.shared import LANG
from viz.params.memory import Remembered
from viz.scheduler.fair_queue import Ticket, Turns, come
from viz.scheduler.stores import Bounds, Stores
from viz.text import translator

_PLACE: Remembered[DeltaGenerator] = Remembered("_waiting")
LOOK, PATIENCE = 0.05, 0.7
"""Seconds between two looks, and before anything is said: most waits are over by then."""

_held: ContextVar[Ticket | None] = ContextVar("held", default=None)
_of_thread: ContextVar[Stores | None] = ContextVar("of_thread", default=None)
_served: list[Stores] = []


def make_stores(bounds: Bounds | None = None) -> Stores:
    """Return new stores, for an app."""
    return Stores(bounds, raise_if_left, aside, _of_thread.set)


@cache
def default_stores() -> Stores:
    """Return the stores of what runs without a server, such as a test of a page; made when they are first needed."""
    return make_stores()


def stores() -> Stores:
    """Return the stores of the app that this thread runs for: its own, else those of the app that is served."""
    return _of_thread.get() or (_served[-1] if _served else default_stores())


@contextmanager
def use(chosen: Stores) -> Iterator[None]:
    """Have this thread run for the app with these stores inside the ``with``."""
    token = _of_thread.set(chosen)
    try:
        yield
    finally:
        _of_thread.reset(token)


@contextmanager
def serve(chosen: Stores) -> Iterator[None]:
    """Have all users' runs that begin inside the ``with`` be of the app with these stores.

    Streamlit starts a thread for each run, and says nothing of the app in it. It need not: a process has one Runtime,
    and with it one app that is served.

    Raises:
        RuntimeError: if another app is served already.
    """
    if _served:
        raise RuntimeError("another app is served in this process")
    _served.append(chosen)
    try:
        yield
    finally:
        _served.remove(chosen)


@contextmanager
def writing(part: str = "", *, is_alone: bool = True) -> Iterator[None]:
    """Write a page in turn: first come, first served, whatever it asks for.

    Args:
        part: of the page, if it is one.
        is_alone: False if the page around it is being written, and has its turn.

    Raises:
        ModelError: "busy", if the turn does not come.
    """
    with _visit() if is_alone else nullcontext():
        with st.container(key=f"waiting{part and '_'}{part}"):  # what comes and goes there moves nothing
            _PLACE.set(st.empty())
        if is_alone:
            _take()
        try:
            yield
        finally:
            if is_alone:
                _give()


@contextmanager
def _visit() -> Iterator[None]:
    """Count a user as being under way. Their run stays with its app, even where the server ends before it."""
    chosen = stores()
    with use(chosen), chosen.memory.visit(come()):
        yield


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
    turn, pages = threading.Event(), stores().pages
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
        stores().pages.leave(ticket)


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
        _PLACE.read().empty()


def for_the_server(is_warm: threading.Event) -> None:
    """Wait until this server can compute; other pages are written meanwhile, and this one says that it comes."""
    with aside():
        began, is_said = time.monotonic(), False
        while not is_warm.wait(LOOK):
            raise_if_left()
            if not is_said and time.monotonic() - began > PATIENCE:
                _PLACE.read().info(translator(LANG.value)("waiting.warming"))
                is_said = True
    if is_said:
        _PLACE.read().empty()


def _say(place: int) -> None:
    t = translator(LANG.value)
    _PLACE.read().info(t("waiting.place", n=place) if place else t("waiting.working"))
