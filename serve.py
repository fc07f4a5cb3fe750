"""Headlight for many visitors, ``streamlit run serve.py``: the pages of ``app.py``, warm and guarded."""

from importlib import import_module

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from pages import EVERY, FIRST, HEADS
from viz.host import errors
from viz.host.connections import limit_connections
from viz.host.files import Files
from viz.host.guard import Guard
from viz.host.page_head import PREVIEW, preview
from viz.host.readiness import Readiness
from viz.host.sockets import Sockets


def import_pages() -> None:
    """At a desk each is imported when it is first opened; here nobody should wait for it."""
    for name in EVERY:
        import_module(f"pages.{name}.page")


limit_connections()
sockets = Sockets()
readiness = Readiness(sockets, then=import_pages)
app = st.App(
    "app.py",
    lifespan=readiness.lifespan,
    routes=[*readiness.routes, Route(f"/{PREVIEW}", preview)],
    on_script_error=errors.say,
    middleware=[
        Middleware(Guard, sockets=sockets, readiness=readiness, pages=EVERY),
        Middleware(
            Files,
            views=dict.fromkeys(("", FIRST), ("start/arcs", "start/diagram")) | {HEADS: ("head_grid/head_grid",)},
            pages=EVERY,
            before=HEADS,
        ),
    ],
)
