"""The app of ``slow_app.py`` without a model, in a process with few file descriptors, which may have twice as many."""

# ruff: noqa: E402 - the limit comes before all that is imported

import resource

SOFT, HARD = 200, 400
resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, HARD))

import streamlit as st

from tests.host.slow_app import hosted_app
from viz.host import readiness

readiness.warm = lambda: None
app = st.App(**hosted_app.options)
