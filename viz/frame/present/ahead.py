"""The next step is computed while this one is shown: its page is drawn once more, where nobody sees it.

Whatever a page computes is kept (:mod:`viz.scheduler`), so the visitor's own run finds it there. Such a run comes last
of all in every line, begins only when nobody is served, and there is one at a time in the whole program.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from logging import INFO, getLogger
from threading import Event, Lock, Thread

import streamlit as st

from viz.frame import compute, sidebar, state, view, waiting
from viz.frame.lesson.running import mark_done
from viz.frame.share import figure_menu
from viz.frame.terms import marks
from viz.scheduler.fair_queue import come_last
from viz.scheduler.job import where
from viz.streamlit_internals.unseen import unseen_run

MOMENT, PATIENCE, LONGEST = 0.1, 20.0, 30.0
"""Seconds between two looks whether anybody is served; that are waited for it; that such a run may take."""

Draw = Callable[[str], None]
_NOW = "_ahead"
_one = Lock()
_log = getLogger(__name__)


class SupersededError(Exception):
    """Nobody is going to see this step next any more."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """What may be shown next.

    Args:
        page: the page it is on.
        query: its link, without the page.
        done: a lesson and its step, if that is over by then.
    """

    page: str
    query: str
    done: tuple[str, int] | None = None


def prepare(steps: Sequence[Step], draw: Draw) -> None:
    """Have what may come next computed, in place of what was to come next before."""
    stop = Event()
    before: Event | None = st.session_state.get(_NOW)
    if before is not None:
        before.set()
    st.session_state[_NOW] = stop
    Thread(target=_all, args=(tuple(steps), draw, stop), name="ahead", daemon=True).start()


def _all(steps: Sequence[Step], draw: Draw, stop: Event) -> None:
    until = time.monotonic() + PATIENCE
    while not _one.acquire(timeout=MOMENT):
        if stop.is_set() or time.monotonic() > until:
            return
    try:
        for step in steps:
            if not _nobody_is_served(stop, until):
                return
            rehearse(step, draw, stop)
    finally:
        _one.release()


def _nobody_is_served(stop: Event, until: float) -> bool:
    lines = (compute.turns, waiting.pages)
    while not stop.wait(MOMENT):
        if not any(line.working or line.waiting for line in lines):
            return True
        if time.monotonic() > until:
            return False
    return False


def rehearse(step: Step, draw: Draw, stop: Event) -> None:
    """Draw a step's page where nobody sees it. What goes wrong there is said when somebody does."""
    end = time.monotonic() + LONGEST

    def check() -> None:
        if stop.is_set() or time.monotonic() > end:
            raise SupersededError

    try:
        unseen_run(step.query, check, partial(_draw, step, draw))
    except SupersededError:
        pass
    except Exception as error:
        _log.log(INFO, "a step was not computed ahead: %s", where(error))


def _draw(step: Step, draw: Draw) -> None:
    """What app.py does around a page, as far as its numbers depend on it."""
    come_last()
    state.begin()
    view.read_view()
    marks.begin()
    figure_menu.begin()
    sidebar.language()
    if step.done:
        mark_done(*step.done)
    with waiting.beside():
        draw(step.page)
