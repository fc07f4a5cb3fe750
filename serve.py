"""Headlight for many users, ``streamlit run serve.py``: the pages of ``app.py``, warm and guarded."""

import viz.streamlit_internals.required  # noqa: F401 - before any private name that safety depends on is imported

# isort: split

import streamlit as st

from viz.app.make import make_app

app = st.App(**make_app(hosted=True).options)
