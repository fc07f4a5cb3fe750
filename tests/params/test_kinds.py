"""Controls: the widget shows the page's value, also after its range has changed."""

import pytest
from streamlit.testing.v1 import AppTest


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


@pytest.mark.parametrize(
    ("ends", "expected"), [([30], 7), ([5], 5), ([5, 30], 5), ([30, 5, 10], 5), ([12, 30, 9], 7)], ids=str
)
@pytest.mark.parametrize("before", ["a link", "a drag", "another page"])
def test_slider_of_new_range_keeps_value(ends, expected, before):
    """A slider whose range changes shows the value that the page reads."""
    app = AppTest.from_function(page)
    if before == "a link":
        app.query_params["layer"] = "7"
    app.run()
    if before == "another page":  # Streamlit keeps what a control of another page showed last
        app.slider("layer").set_value(9).run()
        app.toggle("there").set_value(False).run()
        app.toggle("there").set_value(True).run()
    if before != "a link":
        app.slider("layer").set_value(7).run()
    for last in ends:
        app.number_input("last").set_value(last).run()
        assert not app.exception
        assert slider_value(app) == int(app.text[0].value)
    assert slider_value(app) == expected
    assert app.query_params["layer"] == str(expected)
    assert app.run().slider("layer").value == expected
