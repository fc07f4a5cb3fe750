"""Headlight: the frame around the pages. Run it with ``streamlit run app.py``."""

import streamlit as st

from pages import EVERY, FIRST, HEADS, NAVIGATION, PAGES
from viz import ASSETS
from viz.errors import ModelError
from viz.frame import lesson, sidebar, state, view, waiting
from viz.frame.connection import arrival, loading, old_links
from viz.frame.connection.first_visit import use_own_pages
from viz.frame.connection.reconnect import come_back
from viz.frame.terms import links, marks

use_own_pages([sidebar.path_of(name) for name in EVERY])
st.set_page_config(page_icon=str(ASSETS / "favicon.png"), layout="wide")
st.html(ASSETS / "style.css")
arrival.begin()
state.begin()
embedded = view.read_view().embed
if embedded:
    st.html(ASSETS / "embedded.css")
marks.begin()
t = sidebar.language()
try:
    with waiting.writing():
        name = sidebar.navigation(t, NAVIGATION, FIRST, embedded=embedded)
        if name == FIRST and old_links.is_old(arrival.link(), embedded=embedded):
            old_links.go_on(sidebar.path_of(HEADS))
        if not embedded:  # the pages first: a sidebar that opens without them is moved by them
            st.logo(ASSETS / "logo.png", size="large")
            sidebar.language_control(t)
        if name != FIRST:  # that one computes nothing, and is there before what computes is imported
            loading.module("viz.frame.compute").warm()
            if name in PAGES and (arrival.is_untouched() or (arrival.is_bare() and name == HEADS)):
                loading.module("viz.frame.examples").open_on_what_is_read(st.session_state["lang"])
            lesson.begin(name)
        loading.module(f"pages.{name}.page").PAGE.draw()  # imported when it is first opened, and not before
        if name != FIRST:
            lesson.end()
        if embedded:
            sidebar.way_out(t)
        elif name in PAGES:
            sidebar.neighbours(t, PAGES, name)
        else:
            arrival.stay_untouched(*links.SHARED)
        links.open_links()
except ModelError as error:  # too busy: what the visitor typed is still there
    loading.module("viz.frame.scene").say_error(t, error)
come_back()
sidebar.describe_page()
state.end()
