"""A server at a desk: whoever runs it is its only user."""

import asyncio
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from viz.host import descriptors

LISTENS = 0.2
"""Seconds after which a server that has begun can be asked."""


def first_url() -> str:
    """Return the address of the first page, as Streamlit prints it."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"{scheme}://{st.get_option('browser.serverAddress')}:{st.get_option('browser.serverPort')}/{base}"


class Desk:
    """A server of one user, who runs it: nothing stands before the files."""

    routes: Sequence[Route] = ()
    middleware: Sequence[Middleware] = ()
    on_script_error: Callable[[Exception], bool | None] | None = None

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Open the browser beside the server."""
        descriptors.limit()
        if not st.get_option("server.headless"):  # Streamlit opens none for an ASGI app
            loop = asyncio.get_running_loop()
            loop.call_later(LISTENS, lambda: loop.run_in_executor(None, webbrowser.open, first_url()))
        yield
