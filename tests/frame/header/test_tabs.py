"""Sections with several pictures of one idea: buttons choose one. test_every_page.py opens each by its link."""

from tests.running import checked
from tests.sections import views_of
from viz.text import translator


def test_view_of_another_section_is_refused(open_app):
    """The section opens on its first view, and the page says what it did not believe."""
    app = open_app("share_kv", section="growing_cache", view="copying")
    assert translator("en")("note.refused", names="view") in [info.value for info in app.info]
    assert checked(app, "growing_cache")[0] > 0


def test_whole_page_has_every_view(open_app):
    """One below the other, under their own titles, and without buttons."""
    app, t = open_app("share_kv", section="all"), translator("en")
    titles = [t(f"share_kv.{name}.title") for name in views_of("share_kv")]
    assert [header.value for header in app.header if header.value in titles] == titles
    assert all(header.key != "view" for header in app.button_group)
