"""Headlight: the frame around the pages. Run it with ``streamlit run app.py``."""

from typing import Any

import streamlit as st

from pages import EVERY, FIRST, HEADS, NAVIGATION, PAGES
from viz.errors import ModelError
from viz.frame import lesson, present, sidebar, state, view, waiting
from viz.frame.connection import arrival, loading, old_links
from viz.frame.connection.first_visit import use_own_pages
from viz.frame.connection.reconnect import come_back
from viz.frame.share import panel
from viz.frame.terms import links, marks
from viz.frame.view import paper
from viz.frame.view.assets import picture, style


def needed_by(name: str) -> list[str]:
    """The modules of a page that computes."""
    return [] if name == FIRST else ["viz.frame.page", f"pages.{name}.page"]


def page_of(name: str) -> Any:
    """A page; it is imported when it is first opened, and not before."""
    return loading.module(f"pages.{name}.page").PAGE


def draw(name: str) -> None:
    """A page, and what a lesson has to say of it; the first page has no lesson."""
    if name != FIRST:
        lesson.begin(name)
    if lesson.print_whole(t):
        return
    page_of(name).draw()
    if name != FIRST:
        lesson.end()


def sections_of(name: str) -> list[str]:
    """The names of a page's sections; some have none."""
    return [section.name for section in getattr(page_of(name), "sections", ())]


use_own_pages({sidebar.path_of(name): needed_by(name) for name in EVERY})
st.set_page_config(page_icon=picture("favicon.png"), layout="wide")
st.html(style("style.css"))
arrival.begin()
state.begin()
looked_at = view.read_view()
embedded = looked_at.embed
if embedded:
    st.html(style("embedded.css"))
present.begin()
paper.begin()
panel.hide(looked_at.hide)
marks.begin()
t = sidebar.language()
try:
    with waiting.writing():
        name = sidebar.navigation(t, NAVIGATION, FIRST, hidden=looked_at.is_bare)
        if not looked_at.is_bare:
            panel.keep_place()
        if name == FIRST and old_links.is_old(arrival.link(), embedded=embedded):
            old_links.go_on(sidebar.path_of(HEADS))
        if not looked_at.is_bare:  # the pages first: a sidebar that opens without them is moved by them
            st.logo(picture("logo.png"), size="large")
            sidebar.language_control(t)
        if name != FIRST or looked_at.present or looked_at.notes:
            loading.come_in()
        if name != FIRST:  # that one computes nothing, and is there before what computes is imported
            loading.module("viz.frame.compute").warm()
            if name in PAGES and (arrival.is_untouched() or (arrival.is_bare() and name == HEADS)):
                loading.module("viz.frame.examples").open_on_what_is_read(st.session_state["lang"])
        if looked_at.notes:
            present.notes(t)
        else:
            draw(name)
            present.end(t, name, PAGES, sections_of, draw)
        if embedded:
            sidebar.way_out(t)
            panel.tell_height()
        elif not looked_at.is_bare:
            panel.offer(t, name)
            if name in PAGES:
                sidebar.neighbours(t, PAGES, name)
        if name not in PAGES and not embedded:
            arrival.stay_untouched(*links.SHARED)
        links.open_links()
except ModelError as error:  # too busy: what the visitor typed is still there
    loading.module("viz.frame.scene").say_error(t, error)
come_back()
sidebar.describe_page()
state.end()
