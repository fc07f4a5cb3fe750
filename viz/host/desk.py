"""A server at a desk: whoever runs it is its visitor, and it is not told who may do what."""

import asyncio
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from viz.frame.connection import loading
from viz.host import descriptors
from viz.host.files import Files
from viz.host.first_paint import StaticPaint
from viz.host.page_head import PREVIEW, preview
from viz.streamlit_internals import pages_are_no_scripts

LISTENS = 0.2
"""Seconds after which a server that has begun can be asked."""


def first_url() -> str:
    """Return the address of the first page, as Streamlit prints it."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"{scheme}://{st.get_option('browser.serverAddress')}:{st.get_option('browser.serverPort')}/{base}"


class Desk:
    """Files as a browser should get them, as on a public server; nothing is imported before it is needed.

    Args:
        pages: the names of the pages, the one that opens at "/" first.
        paint: the static first paint of every page.
        before: the page that old links to "/" mean.
    """

    def __init__(self, pages: tuple[str, ...], paint: StaticPaint, before: str) -> None:
        self.first = pages[0]
        files = Middleware(Files, pages=pages, before=before, paint=paint, on_page=self.expect)
        self.middleware, self.routes = [files], [Route(f"/{PREVIEW}", preview)]

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Open the browser beside the server."""
        pages_are_no_scripts()
        descriptors.limit()
        if not st.get_option("server.headless"):  # Streamlit opens none for an ASGI app
            loop = asyncio.get_running_loop()
            loop.call_later(LISTENS, lambda: loop.run_in_executor(None, webbrowser.open, first_url()))
        yield

    def expect(self, page: str) -> None:
        """Somebody opens a page: what it needs is imported while its code comes to the browser."""
        if page != self.first:
            loading.begin_to_import("viz.frame.page", f"pages.{page}.page")
