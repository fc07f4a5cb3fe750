"""A local server with one user."""

import asyncio
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from viz.background import start_thread
from viz.host import descriptors

LISTENS = 0.2
"""Seconds from the start of the server until it accepts requests."""


def first_url() -> str:
    """Return the address of the first page, as Streamlit prints it."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"{scheme}://{st.get_option('browser.serverAddress')}:{st.get_option('browser.serverPort')}/{base}"


class Desk:
    """A local server for one user, without a guard."""

    routes: Sequence[Route] = ()
    middleware: Sequence[Middleware] = ()
    on_script_error: Callable[[Exception], bool | None] | None = None

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Open the browser once the server listens."""
        descriptors.limit()
        # Streamlit opens no browser for an ASGI app.
        if not st.get_option("server.headless"):
            loop = asyncio.get_running_loop()
            loop.call_later(LISTENS, start_thread, "browser", lambda: webbrowser.open(first_url()))
        yield
