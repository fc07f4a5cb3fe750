"""The search box: in the sidebar, above the pages, and on the glossary page."""

import streamlit as st

from viz.components.view import View, address
from viz.frame import view

SEARCH = View("search/search", words="search.")
INDEX = "search.json"
"""The path of the index, which a browser asks for when somebody searches for the first time."""


def sidebar_search(lang: str) -> None:
    """Draw the box of the sidebar, which the keys "/" and Ctrl+K lead to."""
    with st.sidebar.container(key="search"):
        search_box(lang, key="search_box", takes_keys=True)


def search_box(lang: str, *, key: str, query: str = "", takes_keys: bool = False) -> None:
    """Draw a box with this query in it at first; "/" and Ctrl+K lead to it if it ``takes_keys``."""
    data = {
        "lang": lang,
        "index": INDEX,
        "code": address("search/find"),
        "query": query,
        "keys": takes_keys,
        "beyond": view.current().embed,
    }
    SEARCH.mount(key=key, data=data)
