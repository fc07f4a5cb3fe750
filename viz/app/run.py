"""One run of the app: the frame around the pages, and the page that is open."""

from functools import partial
from typing import Any

import streamlit as st

from pages import FIRST, HEADS, NAVIGATION, PAGES
from viz.errors import ModelError
from viz.frame import modes, queue_notice, sidebar, view
from viz.frame.connection import loading, redirects, visit
from viz.frame.connection.fragments import fragment
from viz.frame.links import SHARED, open_links
from viz.frame.modes import PageRun, figure_facts
from viz.frame.search.box import sidebar_search
from viz.frame.shared import LANG
from viz.frame.view.assets import picture, style
from viz.modes import find
from viz.params import link
from viz.params.memory import read_once
from viz.params.session import PAGE, begin_page
from viz.text import LANGUAGES, Translate, translator

modes.install(find())


def page_of(name: str) -> Any:
    """Return a page; it is imported when it is first opened."""
    return loading.module(f"pages.{name}.page").PAGE


def sections_of(name: str) -> list[str]:
    """Return the names of a page's sections, if any."""
    return [section.name for section in getattr(page_of(name), "sections", ())]


def page_run(name: str) -> PageRun:
    """The page that is open, as the modes are handed it."""
    t = translator(LANG.value)
    return PageRun(t=t, page=name, pages=PAGES, sections_of=sections_of, is_first=name == FIRST)


def page(name: str) -> None:
    """Draw a page and everything that depends on its inputs."""
    run = page_run(name)
    begin_page()
    # Nothing is known of its pictures.
    figure_facts.note(())
    with st.container(key="page"):
        modes.draw_through("page", run, draw=lambda: page_of(name).draw())
    for mode in modes.of_run():
        mode.below_page(run)
    if name not in PAGES and not view.current().embed:
        visit.stay_untouched(*SHARED)
    sidebar.describe_page()


def say_error(error: ModelError) -> None:
    """Show a page's error, such as a busy server; the user's input stays."""
    loading.module("viz.frame.scene").say_error(translator(LANG.value), error)


def draw_frame() -> None:
    """Draw the whole app for one user."""
    st.html(style("style.css"))
    with read_once():
        link.begin()
        visit.begin()
        view_options = modes.read_view()
        open_links()
        t = sidebar.language()
        for mode in modes.of_run():
            mode.before(t)
        try:
            with queue_notice.writing():
                name = opened_page(t, view_options)
                fragment(PAGE, partial(page, name), say_error)
                draw_surroundings(t, name)
        except ModelError as error:
            say_error(error)
        visit.come_back()
        link.end(redirects.replace_entry)


def opened_page(t: Translate, view_options: view.View) -> str:
    """Draw the sidebar, import the modules that the open page needs, and return its name."""
    has_navigation = modes.shows("navigation")
    name = sidebar.navigation(t, NAVIGATION, FIRST, hidden=not has_navigation)
    for mode in modes.of_run():
        mode.before_page(t)
    if name == FIRST and view_options.embed:
        redirects.go_on(sidebar.path_of(HEADS))
    # The page links come first: they would shift a sidebar drawn before them.
    if has_navigation:
        st.logo(picture("logo.png"), size="large")
        sidebar_search(LANG.value)
        with st.sidebar:
            LANG.segments(t("page.language"), says=LANGUAGES.__getitem__, label_visibility="collapsed")
    if name != FIRST or view_options.present or view_options.notes:
        loading.wait_until_warm()
    # The first page computes nothing, and renders before the compute modules are imported.
    if name != FIRST:
        loading.module("viz.frame.compute").warm()
        if name in PAGES and visit.came_for_reader(LANG.value, reads_bare=page_of(name).reads_bare):
            loading.module("viz.frame.examples").open_on_what_is_read(LANG.value)
    return name


def draw_surroundings(t: Translate, name: str) -> None:
    """Draw a page's surroundings: sharing and links to neighbouring pages."""
    run = page_run(name)
    for mode in modes.of_run():
        mode.after_page(run)
    if modes.shows("navigation") and name in PAGES:
        sidebar.neighbours(t, PAGES, name)
