"""What is being typed survives the loss of a server: the new session leaves the box alone."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from viz import streamlit_internals
from viz.frame.connection import reconnect

SENT = [
    SimpleNamespace(id="$$ID-0123-layer", string_value="", double_value=3.0),
    SimpleNamespace(id="$$ID-4567-text", string_value="from the box"),
]


def one_box() -> None:
    import streamlit as st

    from viz.frame import state

    state.begin()
    text = state.text("text", "usual", 100)
    st.text_area("box", key="text")
    st.code(text)
    state.end()


def test_what_the_browser_still_shows(monkeypatch):
    context = SimpleNamespace(session_state=SimpleNamespace(get_widget_states=lambda: SENT))
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: context)
    assert reconnect.still_shown("text") == "from the box"
    assert reconnect.still_shown("words") is None
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: None)
    assert reconnect.still_shown("text") is None


@pytest.mark.parametrize("shown", [None, "", "from the box"])
def test_a_box_that_is_open_already_is_read_and_not_written(monkeypatch, shown):
    monkeypatch.setattr(reconnect, "still_shown", lambda name: shown if name == "text" else None)
    app = AppTest.from_function(one_box)
    app.query_params["text"] = "from the link"
    app.run()
    assert not app.exception
    assert app.code[0].value == ("from the link" if shown is None else shown)
    assert app.text_area[0].proto.set_value is (shown is None)
