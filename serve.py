"""Headlight for many visitors, ``streamlit run serve.py``: the pages of ``app.py``, warm and guarded."""

import viz.streamlit_internals.required  # noqa: F401 - before any private name that safety depends on is imported

# isort: split

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from pages import EVERY, FIRST, HEADS, NAVIGATION
from pages.start.static_picture import PICTURES
from viz.host import errors
from viz.host.connections import limit_connections
from viz.host.files import Files
from viz.host.first_paint import StaticPaint
from viz.host.guard import Guard
from viz.host.page_head import PREVIEW, preview
from viz.host.readiness import Readiness, import_ahead
from viz.host.sockets import Sockets


def import_pages() -> None:
    """At a desk each is imported when it is first opened; here nobody should wait for it."""
    for name in EVERY:
        import_ahead(f"pages.{name}.page")


def expect(page: str) -> None:
    """Somebody opens a page: what it computes with is imported while its code comes to the browser."""
    if page != FIRST:
        readiness.expect()


import_ahead(f"pages.{FIRST}.page")  # it is there before anything that other pages need is imported
limit_connections()
sockets = Sockets()
readiness = Readiness(sockets, then=import_pages)
paint = StaticPaint(navigation=NAVIGATION, pictures=PICTURES)
app = st.App(
    "app.py",
    lifespan=readiness.lifespan,
    routes=[*readiness.routes, Route(f"/{PREVIEW}", preview)],
    on_script_error=errors.say,
    middleware=[
        Middleware(Guard, sockets=sockets, readiness=readiness, pages=EVERY),
        Middleware(Files, pages=EVERY, before=HEADS, paint=paint, on_page=expect),
    ],
)
