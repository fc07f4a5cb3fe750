"""A widget's value is taken as Streamlit's page sends it, and anything else resets the widget."""

import math
from contextlib import suppress
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import Serialized, SessionState, WStates

from tests.running import start_app
from viz.streamlit_internals.widget_values import reset_unreadable_widgets

PAGE_VALUES: dict[str, tuple[str, Any, Any]] = {
    "whole_number": ("int_value", 8, 8),
    "real_number": ("double_value", 2.5, 2.5),
    "cleared_number": ("int_value", 8, 8),
    "slider": ("double_array_value", [5.0], 5),
    "real_slider": ("double_array_value", [0.5], 0.5),
    "select_slider": ("string_array_value", ["32"], 32),
    "radio": ("string_value", "b", "b"),
    "selectbox": ("string_value", "b", "b"),
    "cleared_selectbox": ("string_value", "b", "b"),
    "segments": ("string_array_value", ["b"], "b"),
    "pills": ("string_array_value", ["a", "b"], ["a", "b"]),
    "multiselect": ("string_array_value", ["a", "b"], ["a", "b"]),
    "checkbox": ("bool_value", True, True),
    "toggle": ("bool_value", True, True),
    "text_area": ("string_value", "a text", "a text"),
    "text_input": ("string_value", "a text", "a text"),
    "free_text": ("string_value", "a text", "a text"),
    "uploader": ("file_uploader_state_value", {}, None),
    "button": ("trigger_value", True, True),
    "expander": ("bool_value", True, True),
    "popover": ("bool_value", True, True),
    "component": ("json_value", '{"choice": 7}', {"choice": 7}),
}
"""By widget: the field in which Streamlit's page sends its value, a value, and what the script reads."""

FOREIGN_VALUES: dict[str, list[Any]] = {
    "trigger_value": [True],
    "bool_value": [True],
    "double_value": [2.5, 8.0, 1e308, math.nan, math.inf],
    "int_value": [8, -(2**40), 2**63 - 1],
    "string_value": ["okapi", "8", '{"choice": 7}'],
    "json_value": ["{no json", "8", '"okapi"', "[8]", "null", "NaN", "1e999"],
    "bytes_value": [b"\xff\xfe", b"okapi"],
    "json_trigger_value": ["[1", "[]"],
    "double_array_value": [{"data": [math.nan]}, {"data": []}, {"data": [5.0, 5.0]}],
    "int_array_value": [{"data": [-5]}],
    "string_array_value": [{"data": ["okapi"]}, {"data": []}],
    "arrow_value": [{"data": b"rubbish"}],
    "string_trigger_value": [{"data": "okapi"}],
    "chat_input_value": [{"data": "okapi"}],
    "file_uploader_state_value": [{"uploaded_file_info": [{"file_id": "none", "name": "okapi"}]}],
}
"""Values of every field of a message, those of a tampered page among them."""


def every_widget() -> None:
    import streamlit as st

    st.number_input("n", 0, 100, 3, key="whole_number")
    st.number_input("n", 0.0, 9.0, 1.0, key="real_number")
    st.number_input("n", 0, 100, None, key="cleared_number")
    st.slider("n", 0, 9, 3, key="slider")
    st.slider("n", 0.0, 1.0, 0.1, key="real_slider")
    st.select_slider("n", [16, 32], key="select_slider")
    st.radio("n", ["a", "b"], key="radio")
    st.selectbox("n", ["a", "b"], key="selectbox")
    st.selectbox("n", ["a", "b"], None, key="cleared_selectbox")
    st.segmented_control("n", ["a", "b"], default="a", required=True, key="segments")
    st.pills("n", ["a", "b"], selection_mode="multi", key="pills")
    st.multiselect("n", ["a", "b"], key="multiselect")
    st.checkbox("n", key="checkbox")
    st.toggle("n", key="toggle")
    st.text_area("n", "default", key="text_area")
    st.text_input("n", "default", max_chars=9, key="text_input")
    st.text_input("n", None, key="free_text")
    st.file_uploader("n", key="uploader")
    st.button("n", key="button")
    st.expander("n", key="expander", on_change="rerun")
    st.popover("n", key="popover", on_change="rerun")
    st.components.v2.component("every_widget", html="<p></p>")(key="component", on_choice_change=lambda: None)


@pytest.fixture(scope="module")
def state() -> SessionState:
    """A session that has drawn one widget of every kind."""
    app = start_app(every_widget).run()
    assert not app.exception
    return app.session_state._state._state


@pytest.fixture(autouse=True)
def _read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)  # as it was, afterwards
    reset_unreadable_widgets()


class Widgets:
    """The widgets of a session, with nothing sent for them yet."""

    def __init__(self, state: SessionState) -> None:
        self.about = {
            widget.split("-", 2)[2]: metadata for widget, metadata in state._new_widget_state.widget_metadata.items()
        }
        self.states = WStates(widget_metadata={metadata.id: metadata for metadata in self.about.values()})

    def read(self, key: str, field: str | None = None, value: Any = None) -> Any:
        """Return the value that the script reads when the page sends this one."""
        widget = self.about[key].id
        payload: Any = {field: {"data": value} if isinstance(value, list) else value} if field else {}
        self.states[widget] = Serialized(WidgetState(id=widget, **payload))
        return self.states[widget]


@pytest.mark.parametrize("key", PAGE_VALUES)
def test_value_of_the_page_is_kept(state, key):
    """In the field that Streamlit's page uses, which for a box of whole numbers is not the one it declares.

    Streamlit notes the field of the last value as the widget's own; a box that was empty has none.
    """
    field, value, read = PAGE_VALUES[key]
    widgets = Widgets(state)
    assert widgets.read(key, field, value) == read
    assert widgets.states.get_serialized(widgets.about[key].id) is not None
    widgets.read(key)
    assert widgets.read(key, field, value) == read


@pytest.mark.parametrize("key", PAGE_VALUES)
def test_value_of_another_kind_resets_it(state, key):
    """A value of another type is reset to the default or converted without loss."""
    default = Widgets(state).read(key)
    for field, value in [(field, value) for field, values in FOREIGN_VALUES.items() for value in values]:
        widgets, valid = Widgets(state), [default]
        with suppress(TypeError, ValueError):
            valid.append(Widgets(state).read(key, widgets.about[key].value_type, value))
        read = widgets.read(key, field, value)
        assert read in valid, (field, value)
        assert type(read) in map(type, [*valid, PAGE_VALUES[key][2]]), (field, value)
        assert widgets.read(key, *PAGE_VALUES[key][:2]) == PAGE_VALUES[key][2], "and the next value counts again"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1" + "0" * 400])
def test_json_that_javascript_cannot_write_resets(state, number):
    """A script that makes a float of such an integer fails, and its page has no control left to set otherwise."""
    assert Widgets(state).read("component", "json_value", f'{{"choice": {{"temperature": {number}}}}}') == {}
    assert Widgets(state).read("component", "json_value", '{"choice": [100000000000000000000, 1e999]}')["choice"]
