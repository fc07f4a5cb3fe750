"""The turn of a page: one is computed at a time, and a user who waits reads their place in the queue.

Each app has queues and caches of its own (:func:`stores`), which are there before anything that computes is imported.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import limits
from viz.errors import ModelError
from viz.frame.shared import LANG
from viz.params.memory import Remembered
from viz.params.session import is_run, raise_if_disconnected
from viz.scheduler.cache import Store
from viz.scheduler.fair_queue import FairQueue, Ticket, mark_arrival
from viz.scheduler.stores import Bounds, Stores
from viz.text import translator

_PLACE: Remembered[DeltaGenerator] = Remembered("_waiting")
"""The place of the notice in what is being written."""
POLL_SECONDS, SILENT_SECONDS = 0.05, 0.7
"""Seconds between two looks, and before the first notice: most waits are over by then."""

_ticket: ContextVar[Ticket | None] = ContextVar("held", default=None)
_of_thread: ContextVar[Stores | None] = ContextVar("of_thread", default=None)
_served_stores: list[Stores] = []


def make_stores(bounds: Bounds | None = None) -> Stores:
    """Return new stores, for an app."""
    return Stores(bounds, raise_if_disconnected, aside, _of_thread.set)


@cache
def default_stores() -> Stores:
    """Return the stores for code without a server, such as a test of a page; made on first use."""
    return make_stores()


def stores() -> Stores:
    """Return the stores of the app that this thread runs for: its own, else those of the app that is served."""
    return _of_thread.get() or (_served_stores[-1] if _served_stores else default_stores())


def results() -> Store:
    """Return the store of the app's cached results."""
    return (_of_thread.get() or stores()).results


def models() -> Store:
    """Return where the app keeps its models."""
    return (_of_thread.get() or stores()).models


@contextmanager
def use(app_stores: Stores) -> Iterator[None]:
    """Have this thread run for the app with these stores inside the ``with``."""
    token = _of_thread.set(app_stores)
    try:
        yield
    finally:
        _of_thread.reset(token)


@contextmanager
def serve(app_stores: Stores) -> Iterator[None]:
    """Have all users' runs that begin inside the ``with`` be of the app with these stores.

    Streamlit starts a thread for each run, and says nothing of the app in it. It need not: a process has one Runtime,
    and with it one app that is served.

    Raises:
        RuntimeError: if another app is served already.
    """
    if _served_stores:
        raise RuntimeError("another app is served in this process")
    _served_stores.append(app_stores)
    try:
        yield
    finally:
        _served_stores.remove(app_stores)


@contextmanager
def writing(*, is_alone: bool = True) -> Iterator[None]:
    """Compute a page, or a part of it, in turn, first come, first served.

    A part that is not alone has the turn of the page around it.

    Raises:
        ModelError: "busy", if the turn does not come.
    """
    _PLACE.set(st.empty())
    if not is_alone:
        yield
        return
    with _visit():
        _enter()
        try:
            yield
        finally:
            _leave()


@contextmanager
def _visit() -> Iterator[None]:
    """Count a user as being under way. Their run stays with its app, even where the server ends before it."""
    app_stores = stores()
    with use(app_stores), app_stores.memory.active_user(mark_arrival()):
        yield


@contextmanager
def aside() -> Iterator[None]:
    """Let other pages be written meanwhile: this one waits, or is computed.

    Whoever enters must hold no lock that another page may want; Python 3.11's ``cached_property`` holds one.
    """
    # A page that is computed beside them, or a part that draws itself, has no turn to give up.
    if _ticket.get() is None:
        yield
        return
    _leave()
    try:
        yield
    finally:
        _enter()


def _enter() -> None:
    turn, pages = threading.Event(), stores().pages
    ticket = pages.enter("page", turn.set)
    try:
        until(turn, ticket, pages)
    except BaseException:
        if not pages.drop(ticket):
            pages.leave(ticket)
        raise
    _ticket.set(ticket)


def _leave() -> None:
    if ticket := _ticket.get():
        _ticket.set(None)
        stores().pages.leave(ticket)


def until(event: threading.Event, ticket: Ticket, turns: FairQueue) -> None:
    """Wait on behalf of a user. If they leave or click elsewhere, Streamlit ends their run here.

    Raises:
        ModelError: "busy", if it takes longer than anybody should wait.
    """
    if not is_run():
        event.wait()
        return
    start, last_place = time.monotonic(), None
    while not event.wait(POLL_SECONDS):
        raise_if_disconnected()
        waited, place = time.monotonic() - start, turns.place(ticket)
        if waited > limits.WAIT_SECONDS:
            raise ModelError("busy", seconds=limits.WAIT_SECONDS)
        if waited > SILENT_SECONDS and place != last_place:
            t, last_place = translator(LANG.value), place
            _say(t("waiting.place", n=place) if place else t("waiting.working"))
    if last_place is not None:
        _PLACE.read().empty()


def _say(notice: str) -> None:
    _PLACE.read().html(f'<p class="waiting" role="status">{notice}</p>')


def wait_until_warm(is_warm: threading.Event) -> None:
    """Wait until this server can compute; other pages are written meanwhile, and this one says that it comes."""
    with aside():
        began, is_notice_open = time.monotonic(), False
        while not is_warm.wait(POLL_SECONDS):
            raise_if_disconnected()
            if not is_notice_open and time.monotonic() - began > SILENT_SECONDS:
                _say(translator(LANG.value)("waiting.warming"))
                is_notice_open = True
    if is_notice_open:
        _PLACE.read().empty()
