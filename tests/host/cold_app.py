"""serve.py, which warms up when a file is there that its environment names."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pages import EVERY, FIRST
from viz import ROOT
from viz.host import errors
from viz.host import readiness as told
from viz.host.guard import Guard
from viz.host.readiness import Readiness, import_ahead
from viz.host.sockets import Sockets

warm = told.warm


def _warm_when_told(admit: Callable[[], object]) -> int:
    while not Path(os.environ["COLD_UNTIL"]).exists():
        time.sleep(0.02)
    return warm(admit)


async def inside(_: Request) -> JSONResponse:
    """What the tests want to know."""
    return JSONResponse([name for name in ("torch", "transformers", "tokenizers", "scipy") if name in sys.modules])


told.warm = _warm_when_told
import_ahead(f"pages.{FIRST}.page")
sockets = Sockets()
readiness = Readiness(sockets)
app = st.App(
    f"{ROOT}/app.py",
    lifespan=readiness.lifespan,
    routes=[*readiness.routes, Route("/inside", inside)],
    on_script_error=errors.say,
    middleware=[Middleware(Guard, sockets=sockets, readiness=readiness, pages=(*EVERY, "inside"))],
)
