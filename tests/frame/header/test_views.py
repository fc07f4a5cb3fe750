"""Sections with several pictures of one idea: each is opened by its button, by its link and by the link it had."""

import pytest

from pages import PAGES
from tests.running import checked, sentences_of
from tests.sections import page_named, views_of
from viz.frame.connection.moved import moved_sections
from viz.text import translator

VIEWS = [
    (page, section, view.name) for page in PAGES for section in page_named(page).sections for view in section.views
]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("page", "section", "view"), VIEWS, ids=[f"{page}-{view}" for page, _, view in VIEWS])
def test_view_opened_by_link_holds(open_app, page, section, view, lang):
    """Its sentence stands there, and its own checks hold; no other view is drawn."""
    app = open_app(page, section=section.name, **{section.switch: view}, lang=lang)
    assert not app.exception
    assert not app.error
    assert translator(lang)(f"{page}.{view}.lead") in sentences_of(app)
    passing, n = checked(app, view)
    assert passing == n > 0
    other_views = [view_.name for view_ in section.views if view_.name != view]
    assert all(checked(app, view_) == (0, 0) for view_ in other_views)


@pytest.mark.parametrize(
    ("page", "section"), {(page, section.name): (page, section) for page, section, _ in VIEWS}.values()
)
def test_view_button_draws_page(open_app, page, section):
    """The button leads to the last view, and the link says so."""
    app = open_app(page, section=section.name)
    last = section.views[-1].name
    app.session_state[section.switch] = last
    app.run()
    assert checked(app, last)[1]
    assert app.query_params[section.switch] == last


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, names in moved_sections().items() for name in names])
def test_moved_section_opens_by_old_name(open_app, page, name):
    """An old link opens the section of now, on the view that shows what the old one did."""
    where = moved_sections()[page][name]
    if where.page:
        return
    app = open_app(page, section=name)
    assert app.session_state["section"] == where.section
    for parameter, value in where.parameters.items():
        restored = app.session_state[parameter]
        assert str(int(restored) if isinstance(restored, bool) else restored) == value


def test_old_parameter_opens_its_view(open_app):
    """A link from before sections were named in links carries a parameter of one view alone."""
    app = open_app("positions", pe_k=3)
    assert (app.session_state["section"], app.session_state["pe_show"]) == ("sinusoids", "step")


OF_VIEWS = {
    ("convolution", "filters"): {"alpha_1d": 7.0},
    ("convolution", "reach"): {"k_stack": 5},
    ("convolution", "comparison"): {"compare_k": 5},
    ("cost", "measured"): {"cost_seconds": 20},
    ("share_kv", "copying"): {"words": "the cat the"},
}


@pytest.mark.parametrize(("place", "link"), OF_VIEWS.items())
def test_old_parameter_keeps_its_value(open_app, place, link):
    """A link of an earlier version, without a section: its parameter names the view."""
    (page, view), app = place, open_app(place[0], **link)
    assert not app.exception and not app.info
    assert translator("en")(f"{page}.{view}.lead") in sentences_of(app)
    assert {name: app.session_state[name] for name in link} == link


def test_view_of_another_section_is_refused(open_app):
    """The section opens on its first view, and the page says what it did not believe."""
    app = open_app("share_kv", section="published", view="trained")
    assert translator("en")("note.refused", names="view") in [info.value for info in app.info]
    assert checked(app, "published")[0] > 0


def test_whole_page_has_every_view(open_app):
    """One below the other, under their own titles, and without buttons."""
    app, t = open_app("share_kv", section="all"), translator("en")
    titles = [t(f"share_kv.{name}.title") for name in views_of("share_kv")]
    assert [header.value for header in app.header if header.value in titles] == titles
    assert all(header.key != "view" for header in app.button_group)
