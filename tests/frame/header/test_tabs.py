"""Sections with several pictures of one idea: buttons choose one. test_every_page.py opens each by its link."""

import pytest

from pages import PAGES
from tests.running import checked
from tests.sections import page_named, views_of
from viz.text import translator

VIEWED = [(page, section) for page in PAGES for section in page_named(page).sections if section.views]


@pytest.mark.parametrize(("page", "section"), {page: (page, section) for page, section in VIEWED}.values())
def test_view_button_draws_page(open_app, page, section):
    """The button leads to the last view, and the link says so, in one section of each page."""
    app = open_app(page, section=section.name)
    last = section.views[-1].name
    app.session_state[section.switch] = last
    app.run()
    assert checked(app, last)[1]
    assert app.query_params[section.switch] == last


def test_view_of_another_section_is_refused(open_app):
    """The section opens on its first view, and the page says what it did not believe."""
    app = open_app("share_kv", section="growing_cache", view="trained")
    assert translator("en")("note.refused", names="view") in [info.value for info in app.info]
    assert checked(app, "growing_cache")[0] > 0


def test_whole_page_has_every_view(open_app):
    """One below the other, under their own titles, and without buttons."""
    app, t = open_app("share_kv", section="all"), translator("en")
    titles = [t(f"share_kv.{name}.title") for name in views_of("share_kv")]
    assert [header.value for header in app.header if header.value in titles] == titles
    assert all(header.key != "view" for header in app.button_group)
