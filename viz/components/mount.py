"""Views that run in the browser: Streamlit components (v2), each served by URL as one file (see ``bundle.py``).

Streamlit serves a component's files for installed packages only; this project also runs from a plain checkout, so it
hands Streamlit the manifest itself. By URL, and not as text, because then the code is not sent again with each change,
and a content policy that allows scripts from the server itself alone is met.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from viz.components import bundle
from viz.streamlit_internals import serve_component

PACKAGE = "headlight"


@cache
def _component(name: str, file: str) -> Callable[..., Any]:
    return st.components.v2.component(f"{PACKAGE}.{name}", js=file, isolate_styles=False)


def address(view: str) -> str:
    """Where a browser finds the code of a view that is not mounted yet, seen from any page of the app."""
    name, file = Path(view).name, bundle.served(view)
    serve_component(PACKAGE, name, bundle.folder())
    return f"_stcore/bidi-components/{PACKAGE}.{name}/{file}"


_after_callback: ContextVar[Callable[[], None]] = ContextVar("after_callback", default=lambda: None)


@contextmanager
def after_callbacks(call: Callable[[], None]) -> Iterator[None]:
    """Have this called after each callback of the views that are mounted inside the ``with``."""
    token = _after_callback.set(call)
    try:
        yield
    finally:
        _after_callback.reset(token)


def _both(callback: Callable[[], None], after: Callable[[], None]) -> None:
    callback()
    after()


def mount(view: str, *, key: str, data: Any, **callbacks: Callable[[], None]) -> Any:
    """Show the view ``client/<view>.js`` (with ``<view>.css``), or give it new data.

    Args:
        view: its folder and name, as in "masks/growing"; names differ, whatever their folder.
        key: of this place on the page; the view's own state lives as long as the key stays.
        data: bytes, or what JSON can hold.
        callbacks: ``on_<name>_change``, called when the view reports that.
    """
    name, file = Path(view).name, bundle.served(view)
    serve_component(PACKAGE, name, bundle.folder())
    called = {name: partial(_both, each, _after_callback.get()) for name, each in callbacks.items()}
    # In a list, because in a dict Streamlit looks for tables, and imports pandas for that: a third of a second.
    return _component(name, file)(key=key, data=data if isinstance(data, bytes) else [data], **called)


def count_choices(key: str, counter: str = "sent") -> int:
    """Return how many choices the view of this key has sent, by its own counter; 0 if a browser sends none."""
    choice = st.session_state.get(key, {}).get("choice")
    count = choice.get(counter) if isinstance(choice, Mapping) else None
    return count if type(count) is int else 0
