"""The address bar: its parameters, the browser's note of Back and Forward, and a link without an entry of its own."""

import time
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from viz.components.view import View

ADDRESS = View("frame/address")
_NOTE = "history"
"""The parameter by which ``frame/document`` says that Back or Forward led here; it goes with the answer."""


def asked_link() -> dict[str, str]:
    """Return what the address bar asks for."""
    return {name: value for name, value in st.query_params.to_dict().items() if name != _NOTE}


def history_note() -> str:
    """Return the browser's note of Back or Forward, another one each time; "" if neither led here."""
    return str(st.query_params.get(_NOTE, ""))


def replace(link: Mapping[str, str], path: str) -> None:
    """Put a link into the address bar in place of the one that is there, for a run that opened a page or came back.

    Streamlit has made an entry of an opened page without its link, and would make another one of it with the link;
    between the two Back would lead to a page at its defaults that nobody saw.

    Args:
        link: its parameters.
        path: of the page in the address bar, without which nothing is written: its user may have left it.
    """
    ADDRESS.mount(key="address", data={"link": urlencode(link), "page": path, "run": time.time_ns()})
