"""Addresses that the browser replaces: of a page that opens another one, and of a page that a run has opened."""

import time
from collections.abc import Mapping
from urllib.parse import urlencode, urlparse

import streamlit as st

from viz.components.view import View
from viz.params.link import address_parameters
from viz.params.session import of_session

ADDRESS = View("frame/address")
REOPEN = View("frame/reopen")


def go_on(path: str) -> None:
    """Replace the page by another one, so that Back skips the old address."""
    base = urlparse(st.context.url or "").path.rpartition("/")[0]
    link = urlencode(address_parameters())
    REOPEN.mount(key="reopen", data={"address": f"{base}/{path}" + (f"?{link}" if link else "")})
    st.stop()


def replace_entry(parameters: Mapping[str, str]) -> None:
    """Replace the current history entry by a link, in a run that opened a page or followed Back or Forward.

    Streamlit adds an entry for an opened page without its query parameters and would add another one with them. The
    browser writes nothing if its address has another path by then.
    """
    data = {"link": urlencode(parameters), "page": of_session().path, "run": time.time_ns()}
    ADDRESS.mount(key="address", data=data)
