"""serve.py with a model that fails on some texts: "slowly" never ends, "badly" raises an error that quotes the
text, "strangely" an error of the page."""

import os
import time
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from viz.app import public
from viz.app.make import make_app
from viz.cancellation import check
from viz.frame import compute, page, scene
from viz.host import readiness as told
from viz.models.capture import capture

cuts = scene.cuts


def _capture(model: Any, text: str, **options: Any) -> Any:
    while "slowly" in text:
        check()
        time.sleep(0.02)
    if "badly" in text:
        raise RuntimeError(f"cannot read {text}")
    return capture(model, text, **options)


def _cuts(scene_data: Any) -> None:
    if "strangely" in scene_data.choice.source.text:
        raise KeyError(scene_data.choice.source.text)
    cuts(scene_data)


def _load_only() -> None:
    compute.model(compute.DEFAULT_MODEL)


async def inside(_: Request) -> JSONResponse:
    """Return counts of work, tabs and open files."""
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0  # noqa: PTH112, PTH208
    return JSONResponse(
        {
            "working": hosted_app.stores.turns.working, "waiting": hosted_app.stores.turns.waiting, "files": files,
            "sockets": len(sockets),
        }
    )  # fmt: skip


compute.capture = _capture  # type: ignore[attr-defined]
page.cuts = _cuts  # type: ignore[assignment,attr-defined]
told.warm = _load_only
public.import_pages = lambda: None  # the tests wait for no page that they do not open
hosted_app = make_app(hosted=True, routes=[Route("/inside", inside)])
hosted_app.stores.turns.places, hosted_app.stores.turns.quick = 1, 0  # so that the second user waits
assert isinstance(hosted_app.server, public.PublicServer)
sockets = hosted_app.server.readiness.sockets
app = st.App(**hosted_app.options)
