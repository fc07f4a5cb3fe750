"""serve.py, which warms up once the file of COLD_UNTIL exists."""

import os
import sys
import time
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from viz.app import public
from viz.app.make import make_app
from viz.host import readiness as told

warm = told.warm


def _warm_when_told() -> None:
    while not Path(os.environ["COLD_UNTIL"]).exists():
        time.sleep(0.02)
    warm()


async def inside(_: Request) -> JSONResponse:
    """Return the names of large modules that are imported."""
    return JSONResponse([name for name in ("torch", "transformers", "tokenizers") if name in sys.modules])


told.warm = _warm_when_told
public.import_pages = lambda: None  # the tests wait for no page that they do not open
app = st.App(**make_app(hosted=True, routes=[Route("/inside", inside)]).options)
