"""The app of ``slow_app.py`` in a process that begins with few file descriptors, and may have twice as many."""

# ruff: noqa: E402 - the limit comes before all that is imported

import resource

SOFT, HARD = 200, 400
resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, HARD))

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from pages import EVERY
from tests.host.slow_app import ROOT, inside, paint, readiness, sockets
from viz.host.connections import limit_connections
from viz.host.files import Files
from viz.host.guard import Guard

limit_connections()
app = st.App(
    f"{ROOT}app.py",
    lifespan=readiness.lifespan,
    routes=[*readiness.routes, Route("/inside", inside)],
    middleware=[
        Middleware(Guard, sockets=sockets, readiness=readiness),
        Middleware(Files, pages=EVERY, paint=paint),
    ],
)
