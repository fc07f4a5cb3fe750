"""slow_app.py, where errors can be put into what all users share."""

import os
import pkgutil
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.runtime import Runtime

from pages.start import page
from tests.faults import Fault
from tests.host import slow_app  # noqa: F401 - its model
from viz.app.make import make_app
from viz.background import failures
from viz.host import maintenance, readiness


def fail(*_: Any, **__: Any) -> Any:
    raise KeyError("a fault")


async def break_session(request: Request) -> PlainTextResponse:
    """Make sending to a session's browser fail from now on."""
    session = Runtime.instance().get_app_session(request.query_params["session"])
    assert session is not None
    session.flush_browser_queue = fail  # type: ignore[method-assign]
    return PlainTextResponse("broken")


async def put_fault(request: Request) -> PlainTextResponse:
    """Have a function raise an error at its next call, once."""
    faults.append(Fault(pkgutil.resolve_name(request.query_params["owner"]), request.query_params["name"]))
    return PlainTextResponse("put")


async def describe_fault(_: Request) -> JSONResponse:
    """Return whether the last error was raised, and how many were counted."""
    return JSONResponse({"is_raised": bool(faults) and faults[-1].is_raised, "failures": failures.total()})


def draw() -> None:
    """Draw the first page, which fails until the file of NO_PAGE_UNTIL exists."""
    if (go := os.environ.get("NO_PAGE_UNTIL")) and not Path(go).exists():
        fail()
    draw_first()


draw_first = page.PAGE.draw
page.PAGE.draw = draw  # type: ignore[method-assign]
faults = list[Fault]()
readiness.PAGE_AGAIN, maintenance.TIDY_SECONDS = 0.2, 0.5
routes = Route("/break", break_session), Route("/put", put_fault), Route("/fault", describe_fault)
app = st.App(**make_app(hosted=True, routes=routes).options)
