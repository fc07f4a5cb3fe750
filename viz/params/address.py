"""The address bar: its query parameters, the browser's note of Back and Forward, and replacing the current entry."""

import time
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from viz.components.view import View

ADDRESS = View("frame/address")
_NOTE = "history"
"""The query parameter by which ``frame/document`` reports Back or Forward; removed when the run writes the address."""


def address_parameters() -> dict[str, str]:
    """Return the query parameters of the address bar."""
    return {name: value for name, value in st.query_params.to_dict().items() if name != _NOTE}


def history_note() -> str:
    """Return the browser's note of Back or Forward, unique for each navigation; "" if there was none."""
    return str(st.query_params.get(_NOTE, ""))


def replace(link: Mapping[str, str], path: str) -> None:
    """Replace the current history entry by a link, in a run that opened a page or followed Back or Forward.

    Streamlit adds an entry for an opened page without its query parameters and would add another one with them. Back
    would then lead to the page at its defaults.

    Args:
        link: the query parameters.
        path: of the open page; the browser writes nothing if its address has another path.
    """
    ADDRESS.mount(key="address", data={"link": urlencode(link), "page": path, "run": time.time_ns()})
