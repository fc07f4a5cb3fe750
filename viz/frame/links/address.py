"""The public address of the page with its parameters, and its QR code."""

from functools import lru_cache
from urllib.parse import urlencode, urlparse

import streamlit as st

from viz.frame import modes
from viz.params.link import link as current_link

LONGEST = 1_200
"""Bytes of an address in a code: with more, its squares are too small for a camera at the back of a room."""
LOCAL = ("localhost", "127.0.0.1", "::1")


def address(**more: str) -> str:
    """Return the page's public address, without options of the view and with these parameters."""
    apart = modes.parameters()
    link = {name: value for name, value in current_link().items() if name not in apart} | more
    page = (st.context.url or "").partition("?")[0].partition("#")[0]
    return f"{page}?{urlencode(link)}" if link else page


def is_local(url: str) -> bool:
    """Return True if only this machine can open an address."""
    return urlparse(url).hostname in LOCAL


@lru_cache(maxsize=64)
def code_rows(url: str) -> tuple[str, ...]:
    """The QR code of an address as rows of 0 and 1; none if it is too long."""
    if len(url.encode()) > LONGEST:
        return ()
    # segno is imported for those who ask for a code.
    import segno

    return tuple("".join(map(str, row)) for row in segno.make(url, error="m", micro=False, boost_error=False).matrix)
