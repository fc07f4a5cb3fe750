"""The browser can start every widget with its value, should it have lost the one it had."""

from streamlit.testing.v1 import AppTest


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
    """In a later run, and after a change: a value that is set is sent in one run alone."""
    app = AppTest.from_function(every_kind).run().run()
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
