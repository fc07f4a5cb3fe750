"""serve.py, whose model takes its time over some texts: "slowly" means forever, "badly" an error that quotes
it, "strangely" an error of the page."""

import os
import time
from collections.abc import Callable
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pages import EVERY, NAVIGATION
from pages.start.static_picture import PICTURES
from viz.cancellation import check
from viz.frame import compute, page, scene
from viz.host import errors
from viz.host import readiness as told
from viz.host.files import Files
from viz.host.first_paint import StaticPaint
from viz.host.guard import Guard
from viz.host.readiness import Readiness
from viz.host.sockets import Sockets
from viz.models.capture import capture

ROOT = told.__file__.rpartition("viz")[0]
cuts = scene.cuts


def _capture(model: Any, text: str, **options: Any) -> Any:
    while "slowly" in text:
        check()
        time.sleep(0.02)
    if "badly" in text:
        raise RuntimeError(f"cannot read {text}")
    return capture(model, text, **options)


def _cuts(shown: Any) -> None:
    if "strangely" in shown.choice.source.text:
        raise KeyError(shown.choice.source.text)
    cuts(shown)


def _load_only(admit: Callable[[], object]) -> int:
    compute.model(compute.DEFAULT_MODEL)
    admit()
    return 0


async def inside(_: Request) -> JSONResponse:
    """What the tests want to know."""
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0  # noqa: PTH112, PTH208
    return JSONResponse(
        {
            "working": compute.turns.working, "waiting": compute.turns.waiting, "files": files,
            "sockets": len(sockets),
        }
    )  # fmt: skip


compute.capture = _capture  # type: ignore[attr-defined]
page.cuts = _cuts  # type: ignore[assignment,attr-defined]
compute.turns.places, compute.turns.quick = 1, 0  # so that the second who comes waits
told.warm = _load_only
sockets = Sockets()
paint = StaticPaint(navigation=NAVIGATION, pictures=PICTURES)
readiness = Readiness(sockets)
app = st.App(
    f"{ROOT}app.py",
    lifespan=readiness.lifespan,
    routes=[*readiness.routes, Route("/inside", inside)],
    on_script_error=errors.say,
    middleware=[
        Middleware(Guard, sockets=sockets, readiness=readiness),
        Middleware(Files, pages=EVERY, paint=paint),
    ],
)
