"""Headlight: the frame around the pages. Run it with ``streamlit run app.py``."""

from importlib import import_module

import streamlit as st

from pages import EVERY, FIRST, NAVIGATION, PAGES
from viz import ASSETS
from viz.errors import ModelError
from viz.frame import compute, examples, lesson, sidebar, state, waiting
from viz.frame.connection.first_visit import use_own_pages
from viz.frame.connection.reconnect import come_back
from viz.frame.scene import say_error
from viz.frame.terms import links, marks

use_own_pages([sidebar.path_of(name) for name in EVERY])
st.set_page_config(page_icon=str(ASSETS / "favicon.png"), layout="wide")
embedded = bool(st.context.is_embedded)
st.html(ASSETS / "style.css")
if embedded:
    st.html(ASSETS / "embedded.css")
compute.warm()
state.begin()
marks.begin()
t = sidebar.language()
try:
    with waiting.writing():
        name = sidebar.navigation(t, NAVIGATION, FIRST, embedded=embedded)
        if not embedded:  # the pages first: a sidebar that opens without them is moved by them
            st.logo(ASSETS / "logo.png", size="large")
            sidebar.language_control(t)
        if name == FIRST and state.is_opened_bare():
            examples.open_on_what_is_read(st.session_state["lang"])
        lesson.begin(name)
        import_module(f"pages.{name}.page").PAGE.draw()  # a page is imported when it is first opened, and not before
        lesson.end()
        if embedded:
            sidebar.way_out(t)
        elif name in PAGES:
            sidebar.neighbours(t, PAGES, name)
        links.open_links()
except ModelError as error:  # too busy: what the visitor typed is still there
    say_error(t, error)
come_back()
sidebar.describe_page()
state.end()
