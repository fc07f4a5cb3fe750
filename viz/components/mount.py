"""Views that run in the browser: Streamlit components (v2), each served by URL as one file (see ``bundle.py``).

Streamlit serves a component's files for installed packages. A checkout is one: ``headlight-1.dist-info`` lies in the
folder from which the app is run, and names the manifest in ``package/``. By URL, and not as text, because text is sent
again with each change, and needs a content policy that allows scripts from elsewhere than the server (``blob:``).

The files that Streamlit knows have to lie on disk. Only a loader does: it imports the view's own file, which
``viz/host/files.py`` sends from memory, by the name in the component's HTML.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from viz.components import bundle
from viz.components.cover import current

PACKAGE = "headlight"
LOADER = next(Path(__file__).parent.glob("package/loader/load-*.js"))
"""The file that loads a view's code; its name holds a hash of its content, as all that a browser may keep for good."""


@cache
def _component(view: str) -> Callable[..., Any]:
    html = f'<data value="{bundle.bundle(view)[0]}"></data>'
    return st.components.v2.component(component_name(view), html=html, js=LOADER.name, isolate_styles=False)


def component_name(view: str) -> str:
    """Return the name under which Streamlit knows a view."""
    return f"{PACKAGE}.{Path(view).name}"


def address(view: str) -> str:
    """Return the address of the code of a view that is not mounted yet, relative to any page of the app."""
    return f"_stcore/bidi-components/{component_name(view)}/{bundle.bundle(view)[0]}"


_after_callback: ContextVar[Callable[[], None]] = ContextVar("after_callback", default=lambda: None)


@contextmanager
def after_callbacks(call: Callable[[], None]) -> Iterator[None]:
    """Call this after each callback of the views that are mounted inside the ``with``."""
    token = _after_callback.set(call)
    try:
        yield
    finally:
        _after_callback.reset(token)


def _call_then(callback: Callable[[], None], after: Callable[[], None]) -> None:
    callback()
    after()


def mount(view: str, *, key: str, data: Any, **callbacks: Callable[[], None]) -> Any:
    """Show the view ``client/<view>.js`` (with ``<view>.css``), or give it new data; pages do so by its ``View``.

    Args:
        view: its folder and name, as in "masks/growing"; names differ, whatever their folder.
        key: of this place on the page; the view's own state lives as long as the key stays.
        data: bytes, or what JSON can hold.
        callbacks: ``on_<name>_change``, called when the view reports that.
    """
    wrapped = {name: partial(_call_then, callback, _after_callback.get()) for name, callback in callbacks.items()}
    if current() is not None:  # of a lesson's question; what unpacks and covers needs torch
        from viz.components.covered_data import cover_data

        data = cover_data(key, data)
    # In a list, because in a dict Streamlit looks for tables, and imports pandas for that: a third of a second.
    return _component(view)(key=key, data=data if isinstance(data, bytes) else [data], **wrapped)
