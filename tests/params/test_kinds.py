"""Controls show the page's value, also after a change of range; a chosen position follows its word."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.running import start_app
from viz.frame.examples import examples
from viz.params.kinds import place_of_word

BY_CODE = {example.code: example.text for example in examples()}
TIRED, WIDE = BY_CODE["animal"], BY_CODE["wide"]


def page() -> None:
    """A slider whose end the user sets, and which another page has not."""
    import streamlit as st

    from viz.params import Flag, Int, link

    link.begin()
    last = Int("last", 10, low=2, high=30).number_input("Last")
    if Flag("there", True).toggle("There"):
        st.text(Int("layer", 3, high=lambda last: last).slider("Layer", last))
    else:
        link.retain("layer")
    link.end()


def slider_value(app: AppTest) -> float:
    """The slider's value in the message; without one it is at its default."""
    proto = app.slider("layer").proto
    return proto.value[0] if proto.set_value else proto.default[0]


@pytest.mark.parametrize("ends", [{5: 5, 30: 5}, {30: 7, 5: 5, 10: 5}, {12: 7, 30: 7, 9: 7}], ids=str)
@pytest.mark.parametrize("before", ["a link", "a drag", "another page"])
def test_slider_of_new_range_keeps_value(ends, before):
    """A slider whose range changes shows the value that the page reads."""
    app = start_app(page)
    if before == "a link":
        app.query_params["layer"] = "7"
    app.run()
    if before == "another page":  # Streamlit keeps what a control of another page showed last
        app.slider("layer").set_value(9).run()
        app.toggle("there").set_value(False).run()
        app.toggle("there").set_value(True).run()
    if before != "a link":
        app.slider("layer").set_value(7).run()
    for last, expected in ends.items():
        app.number_input("last").set_value(last).run()
        assert not app.exception
        assert slider_value(app) == int(app.text[0].value) == expected
        assert app.query_params["layer"] == str(expected)
    assert app.run().slider("layer").value == expected


@pytest.mark.parametrize(
    ("before", "now", "place", "expected"),
    [
        ("the cat saw it", "yes the cat saw it", 3, 4),
        ("the cat saw the dog", "a the b the c", 3, 3),  # the second "the"
        ("the cat saw the dog", "the cat saw one dog", 3, 3),  # no second one, and as many words: its place
        ("the cat saw the dog", "the cat saw one dog there", 3, None),
        ("a b c", "x b y", 0, 0),
        ("a b c", "", 0, None),
    ],
)
def test_a_word_in_another_text(before, now, place, expected):
    assert place_of_word(before.split(), now.split(), place) == expected
    if expected is not None and before.split()[place] != now.split()[expected]:
        assert place_of_word(before.split(), now.split(), place, or_place=False) is None


def retype(app, text):
    app.text_area(key="text").set_value(text).run()
    assert not app.exception
    return app.session_state


def test_example_changing_word_keeps_locked_row(open_app):
    app = open_app("heads")
    assert app.session_state["query"] == 10  # "it", which nobody chose
    app.button(key="try_wide").click().run()
    assert app.session_state["query"] == 10
    assert dict(app.query_params) == {"text": WIDE, "query": "10"}, "as whoever is sent the link shall see it"
    state = retype(app, "Today " + TIRED.lower())
    assert (state["query"], state["key"]) == (11, -1)
    assert retype(app, BY_CODE["fox"])["query"] == -1, "no such word there"
    assert retype(app, TIRED)["query"] == 10


@pytest.mark.parametrize(("page", "name"), [("step_by_step", "query"), ("masks", "query"), ("stacking", "from_token")])
def test_selected_word_returns_on_every_page(open_app, page, name):
    link = {"source": "words", "d_model": 8, "n_heads": 2} | ({"section": "steps"} if page == "step_by_step" else {})
    app = open_app(page, text="the cat saw the dog", **link, **{name: 3})
    assert retype(app, "then the cat saw the dog")[name] == 4
    assert (
        retype(app, "then a cat saw all the dogs")[name]
        == open_app(page, text="then a cat saw all the dogs", **link).session_state[name]
    ), "one other word is too many: nothing is chosen"


def test_selected_pair_returns(open_app):
    app = open_app("heads", text="the cat saw the dog", source="words", d_model=8, n_heads=2, query=1, key=4)
    state = retype(app, "a big cat saw the old dog")
    assert (state["query"], state["key"]) == (2, 6)
    state = retype(app, "a big lion saw the old dog")
    assert (state["query"], state["key"]) == (2, 6), "as many words: its place"
    state = retype(app, "dog")
    assert (state["query"], state["key"]) == (-1, 0)


def every_kind() -> None:
    """Draw a widget of every kind, with a value that is not the first."""
    import streamlit as st

    from viz.params import Choice, Flag, Int, Ints, Real, Text, link
    from viz.params.session import begin_page

    link.begin()
    begin_page()
    letters = ("a", "b", "c")
    Int("n", 3, high=9).slider("n")
    Int("k", 4, among=(1, 4, 6)).select_slider("k")
    Real("real", 0.5, high=1.0).number_input("real")
    Choice("listed", "c", among=letters).selectbox("listed")
    Choice("round", "b", among=letters).radio("round")
    Choice("pill", "c", among=letters).pills("pill")
    Flag("on", True).toggle("on")
    Ints("some", (1, 3), high=4).multiselect("some")
    Text("text", "one", longest=9).text_box("text", draw=st.text_area)
    link.end()


def test_widget_default_is_its_value():
    """The browser can start every widget with its value, which is sent in one run alone, should it have lost that."""
    app = start_app(every_kind).run().run()
    app.text_area(key="text").set_value("two").run()
    app.slider(key="n").set_value(7).run()
    assert not app.exception
    defaults = {
        "n": list(app.slider(key="n").proto.default),
        "k": list(app.select_slider(key="k").proto.default),
        "real": app.number_input(key="real").proto.default,
        "listed": app.selectbox(key="listed").proto.default,
        "round": app.radio(key="round").proto.default,
        "pill": list(app.button_group(key="pill").proto.default),
        "on": app.toggle(key="on").proto.default,
        "some": list(app.multiselect(key="some").proto.default),
        "text": app.text_area(key="text").proto.default,
    }
    assert defaults == {
        **{"n": [7.0], "k": [1.0], "real": 0.5, "listed": 2, "round": 1, "pill": [2], "on": True},
        **{"some": [1, 3], "text": "two"},
    }
