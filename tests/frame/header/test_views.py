"""Sections with several views: each is opened by its pill, by a link of now, and by one of an earlier version."""

import pytest

from pages.share_kv.page import PAGE
from tests.running import checked, sentences_of
from tests.sections import VIEWS, page_named
from viz.frame.header.views import views_of, with_views
from viz.frame.page import Section
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("page", "section", "view"), VIEWS)
def test_view_in_link_opens_it(open_app, page, section, view, lang):
    """With its own sentence, checks that hold, and its own footer; the first needs no parameter."""
    link = {"section": section} if view == section else {"section": section, "view": view}
    app, t = open_app(page, lang=lang, **link), translator(lang)
    assert not app.exception and not app.error and not app.info
    assert t(f"{page}.{view}.lead") in sentences_of(app)
    passed, n = checked(app, view)
    assert passed == n > 0
    first = page_named(page).sections[0].name
    kept = {name: value for name, value in link.items() if (name, value) != ("section", first)}
    assert {name: app.query_params[name] for name in kept} == kept
    labels = [option.content for group in app.button_group if group.key == "view" for option in group.proto.options]
    assert len(labels) == len([other for other in VIEWS if other[:2] == (page, section)])


@pytest.mark.parametrize(("page", "section", "view"), [place for place in VIEWS if place[1] != place[2]])
def test_old_link_opens_the_view(open_app, page, section, view):
    """A section of an earlier version that is a view now, alone in a link."""
    app = open_app(page, section=view)
    assert (app.session_state["section"], app.session_state["view"]) == (section, view)
    assert not app.exception and not app.info
    assert translator("en")(f"{page}.{view}.lead") in sentences_of(app)


OF_VIEWS = {
    ("convolution", "filters"): {"alpha_1d": 7.0},
    ("convolution", "reach"): {"k_stack": 5},
    ("convolution", "comparison"): {"compare_k": 5},
    ("cost", "measured"): {"cost_seconds": 20},
    ("share_kv", "copying"): {"words": "the cat the"},
}


@pytest.mark.parametrize(("place", "link"), OF_VIEWS.items())
def test_old_parameter_opens_the_view(open_app, place, link):
    """A link without a section, from when its parameter alone said what it means."""
    (page, view), app = place, open_app(place[0], **link)
    assert not app.exception and not app.info
    assert translator("en")(f"{page}.{view}.lead") in sentences_of(app)
    assert {name: app.session_state[name] for name in link} == link


def test_pill_opens_its_view(open_app):
    """The link follows, and so does a visit to another section."""
    app = open_app("share_kv", section="published")
    app.button_group(key="view").set_value("speed").run()
    assert dict(app.query_params)["view"] in ("speed", ["speed"])
    assert checked(app, "speed") == (1, 1)
    app.button_group(key="section").set_value("who_shares").run()
    assert "view" not in app.query_params
    assert checked(app, "who_shares")[0] > 0


def test_view_of_another_section_is_refused(open_app):
    app = open_app("share_kv", section="published", view="trained")
    assert translator("en")("note.refused", names="view") in [each.value for each in app.info]
    assert checked(app, "published")[0] > 0


def test_with_views_has_every_parameter_of_them():
    first, second = (Section(name, lambda _: None, parameters=(name,)) for name in "ab")
    section = with_views(first, second, in_menu=True)
    assert (section.name, section.parameters, section.in_menu) == ("a", ("a", "b"), True)
    assert views_of(section) == (first, second)
    assert views_of(first) == (first,)


def test_whole_page_has_every_view(open_app):
    """One below the other, under their own titles."""
    app, t = open_app("share_kv", section="all"), translator("en")
    titles = [t(f"share_kv.{view.name}.title") for section in PAGE.sections for view in views_of(section)]
    assert [each.value for each in app.header if each.value in titles] == titles
    assert all(each.key != "view" for each in app.button_group)
