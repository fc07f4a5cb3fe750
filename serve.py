"""Headlight for many visitors, ``streamlit run serve.py``: the pages of ``app.py``, warm and guarded."""

import streamlit as st
from starlette.middleware import Middleware

from viz.host import mishaps
from viz.host.guard import Guard
from viz.host.readiness import Readiness
from viz.host.sockets import Sockets

sockets = Sockets()
readiness = Readiness(sockets)
app = st.App(
    "app.py",
    lifespan=readiness.lifespan,
    routes=readiness.routes,
    on_script_error=mishaps.say,
    middleware=[Middleware(Guard, sockets=sockets, readiness=readiness)],
)
