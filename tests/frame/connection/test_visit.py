"""A link opens the page that it was made of; text being typed survives the loss of a server."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

from pages import PAGES
from tests.running import link_of, start_app
from viz.frame.examples import examples


def one_box() -> None:
    import streamlit as st

    from viz.params import Text, link
    from viz.params.session import of_session

    link.begin()
    box = Text("text", "default", longest=100)
    of_session().open_page("page")
    match st.session_state.pop("asked", ""):
        case "example":
            box.set("an example")
        case "reset":
            box.forget()
    text = box.text_box("box", draw=st.text_area)
    st.code(text)
    st.text(" ".join(link.query_parameters("text").values()))
    link.end()


def widget_states(open_box: str | None) -> WidgetStates:
    """The widget states of a browser's first run, with the box's text; None: without a box."""
    if open_box is None:
        return WidgetStates()
    box = start_app(one_box).run().text_area[0].proto.id
    return WidgetStates(widgets=[WidgetState(id=box, string_value=open_box)])


@pytest.mark.parametrize("open_box", [None, "", "from the box"])
@pytest.mark.parametrize("link", [None, "from the link"])
def test_box_that_is_open_is_read(open_box, link):
    """It is not written, even where a link asks for a text, and what is read counts from then on."""
    app = start_app(one_box)
    if link is not None:
        app.query_params["text"] = link
    app._run(widget_states(open_box))
    expected = open_box if open_box is not None else link or "default"
    for _ in range(2):
        assert not app.exception
        assert app.code[0].value == app.text_area[0].value == expected
        assert app.text[0].value == ("" if expected == "default" else expected)
        assert {**app.query_params}.get("text", "default") in (expected, [expected])
        assert not app.text_area[0].proto.set_value
        app.run()


def test_box_after_first_run_is_written():
    """A value that the app sets or resets later is displayed."""
    app = start_app(one_box)
    app.query_params["text"] = "from the link"
    app.run()
    app.session_state["asked"] = "example"
    app.run()
    assert app.text_area[0].proto.set_value and app.code[0].value == "an example"
    app.session_state["asked"] = "reset"
    app.run()
    assert app.code[0].value == app.text_area[0].value == "default"
    assert app.text_area[0].proto.set_value


DEFAULT = examples()[0].text
CHINESE = next(example for example in examples() if example.lang == "zh" and example.model)


def values(app):
    """The parameters that the page was drawn with."""
    return {name: app.session_state[name] for name in app.session_state["_parameters"].declared}


def assert_link_opens_the_same(app, open_app, page, **of_the_browser):
    fresh = open_app(page, **link_of(app), **of_the_browser)
    assert not app.exception and not fresh.exception
    assert (values(fresh), link_of(fresh)) == (values(app), link_of(app))


def change_language(app, lang):
    app.button_group(key="lang").set_value(lang).run()


@pytest.mark.fast("heads", "block", "convolution")
@pytest.mark.parametrize("page", PAGES)
def test_link_after_change_of_language(open_app, page):
    """A page that is opened in one language, read in the other, and in the first again."""
    app = open_app(page)
    assert link_of(app) == {}
    for lang in ("zh", "en"):
        change_language(app, lang)
        assert_link_opens_the_same(app, open_app, page)


@pytest.mark.parametrize("link", [{}, {"section": "compare"}, {"text": "one two", "lang": "zh"}])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_link_after_default_text(open_app, link, locale):
    """The text that a link in English leaves out is typed by a user of either language."""
    app = open_app("heads", locale=locale, **link)
    app.text_area(key="text").set_value(DEFAULT).run()
    for lang in ("zh", "en"):
        assert_link_opens_the_same(app, open_app, "heads", locale=locale)
        change_language(app, lang)
    assert_link_opens_the_same(app, open_app, "heads", locale=locale)


def test_link_names_default_text_in_chinese(open_app):
    """It names no more than is needed, and nothing once the language is that of the default again."""
    app = open_app("heads")
    change_language(app, "zh")
    assert link_of(app) == {"lang": "zh", "text": DEFAULT}
    change_language(app, "en")
    assert link_of(app) == {}
    fresh = open_app("heads", lang="zh")
    assert (fresh.session_state["text"], fresh.session_state["model"]) == (CHINESE.text, CHINESE.model)


def test_page_with_own_text_names_model(open_app):
    """A page that no sentence is carried to is opened with the model it was looked at with."""
    app = open_app("long_text", section="wall")
    change_language(app, "zh")
    assert link_of(app)["model"] == app.session_state["model"] != CHINESE.model


@pytest.mark.parametrize(
    ("link", "name", "default", "value"),
    [("masks", "mask", "causal", "own"), ("step_by_step?section=steps", "step", 7, 1)],
)
def test_default_of_page_is_not_named(open_app, link, name, default, value):
    """A page or a section with a default of its own has it with any text; the app's one is named there."""
    page, _, section = link.partition("?section=")
    app = open_app(page, text="one two", **({"section": section} if section else {}))
    assert app.session_state[name] == default and name not in link_of(app)
    assert_link_opens_the_same(app, open_app, page)
    app.session_state[name] = value
    app.run()
    assert link_of(app)[name] == str(value)
    assert_link_opens_the_same(app, open_app, page)


def test_folder_is_not_opened_for_default(open_app, monkeypatch):
    """The folder of the command line opens with a link that asks for nothing: one of another model names that."""
    choices = {"model": "a folder"}
    monkeypatch.setattr("viz.frame.page.what_is_read", lambda _: choices)
    app = open_app("heads", text="one two")
    app.text_area(key="text").set_value(DEFAULT).run()
    assert link_of(app) == {"model": app.session_state["model"]}
