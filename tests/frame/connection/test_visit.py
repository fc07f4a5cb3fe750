"""Text being typed survives the loss of a server: the new session leaves the box alone."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

from tests.running import start_app


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
