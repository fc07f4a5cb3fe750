"""slow_app.py, where a session can be made to end the loop that sends all users their messages."""

import os
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime import Runtime

from pages.start import page
from tests.host import slow_app  # noqa: F401 - its model
from viz.app.make import make_app
from viz.host import readiness


def fail(*_: Any, **__: Any) -> Any:
    raise KeyError("a fault")


async def break_session(request: Request) -> PlainTextResponse:
    """Make sending to a session's browser fail from now on."""
    session = Runtime.instance().get_app_session(request.query_params["session"])
    assert session is not None
    session.flush_browser_queue = fail  # type: ignore[method-assign]
    return PlainTextResponse("broken")


def draw() -> None:
    """Draw the first page, which fails until the file of NO_PAGE_UNTIL exists."""
    if (go := os.environ.get("NO_PAGE_UNTIL")) and not Path(go).exists():
        fail()
    draw_first()


draw_first = page.PAGE.draw
page.PAGE.draw = draw  # type: ignore[method-assign]
readiness.PAGE_AGAIN = 0.2
app = st.App(**make_app(hosted=True, routes=[Route("/break", break_session)]).options)
