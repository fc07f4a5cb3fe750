"""Addresses that the browser replaces: links of earlier versions, and the address of a page that a run has opened.

Such links are those to ``/`` from when that was Heads, and to sections that are parts of others now.
"""

import time
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode, urlparse

import streamlit as st

from viz.components.view import View
from viz.frame.connection.moved import where_now
from viz.frame.links import SHARED
from viz.frame.sidebar import path_of
from viz.params.link import address_parameters
from viz.params.session import of_session

ADDRESS = View("frame/address")
REOPEN = View("frame/reopen")
_OF_THE_PAGE = "section", "lesson", "lesson_step"
_OF_THE_GRID = "query", "key", "temperature", "sort", "show", "look", "combine", "several", "what", "merge", "hide"
_OF_ITS_SECTIONS = "part", "after", "off", "image", "text_b", "model_b", "layer_b", "head_b", "compared"
_OF_ITS_VIEWS = "heads_view", "compare_view"
HEADS_PARAMETERS = frozenset((*SHARED, *_OF_THE_PAGE, *_OF_THE_GRID, *_OF_ITS_SECTIONS, *_OF_ITS_VIEWS))
"""The parameters of links to Heads, now or in an earlier version."""


def is_old(names: Iterable[str], *, embedded: bool) -> bool:
    """Return True if a link to ``/`` with these parameters was one to Heads; in somebody else's page it always was."""
    return embedded or not HEADS_PARAMETERS.isdisjoint(names)


def open_moved(page: str) -> None:
    """Have a link to a section of an earlier version ask for what that is now; on another page, open that one."""
    now, link = where_now(page, address_parameters())
    if now != page:
        go_on(path_of(now), link)
    record = of_session()
    _, record.link = where_now(page, record.link)


def go_on(path: str, parameters: Mapping[str, str] | None = None) -> None:
    """Replace the page by another one with these parameters (None: by itself), so that Back skips the old address."""
    base = urlparse(st.context.url or "").path.rpartition("/")[0]
    link = urlencode(address_parameters() if parameters is None else parameters)
    REOPEN.mount(key="reopen", data={"address": f"{base}/{path}" + (f"?{link}" if link else "")})
    st.stop()


def replace_entry(parameters: Mapping[str, str]) -> None:
    """Replace the current history entry by a link, in a run that opened a page or followed Back or Forward.

    Streamlit adds an entry for an opened page without its query parameters and would add another one with them. The
    browser writes nothing if its address has another path by then.
    """
    data = {"link": urlencode(parameters), "page": of_session().path, "run": time.time_ns()}
    ADDRESS.mount(key="address", data=data)
