"""Headlight for many visitors, ``streamlit run serve.py``: the pages of ``app.py``, warm and guarded."""

from importlib import import_module

import streamlit as st
from starlette.middleware import Middleware

from pages import PAGES
from viz.host import errors
from viz.host.connections import limit_connections
from viz.host.first_paint import FirstPaint
from viz.host.guard import Guard
from viz.host.readiness import Readiness
from viz.host.sockets import Sockets

for name in PAGES:  # at a desk each is imported when it is first opened; here nobody should wait for it
    import_module(f"pages.{name}.page")
limit_connections()
sockets = Sockets()
readiness = Readiness(sockets)
app = st.App(
    "app.py",
    lifespan=readiness.lifespan,
    routes=readiness.routes,
    on_script_error=errors.say,
    middleware=[Middleware(Guard, sockets=sockets, readiness=readiness, pages=PAGES), Middleware(FirstPaint)],
)
