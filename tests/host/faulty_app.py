"""slow_app.py, where errors can be put into what all users share."""

import os
import pkgutil
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from pages.start import page
from tests.faults import Fault, FaultError
from tests.host import slow_app  # noqa: F401 - its model
from viz.app.make import make_app
from viz.background import failures
from viz.host import maintenance, readiness


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
        raise FaultError("no page yet")
    draw_first()


draw_first = page.PAGE.draw
page.PAGE.draw = draw  # type: ignore[method-assign]
faults = list[Fault]()
readiness.PAGE_AGAIN, maintenance.TIDY_SECONDS = 0.2, 0.5
routes = Route("/put", put_fault), Route("/fault", describe_fault)
app = st.App(**make_app(hosted=True, routes=routes).options)
