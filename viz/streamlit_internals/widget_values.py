"""Validation of widget values from a browser, before a script reads them."""

import json
from contextlib import suppress
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import Serialized, WStates

MOST_DIGITS = 21
"""JavaScript writes a number of more digits with an exponent."""


def reset_unreadable_widgets() -> None:
    """Make Streamlit reset a widget whose value is invalid for its type.

    Otherwise every later run of the session would fail, even before it reads the language of the error message.
    """
    read = WStates.__getitem__

    def read_or_forget(states: WStates, widget: str) -> Any:
        state, about = states.states.get(widget), states.widget_metadata.get(widget)
        if not isinstance(state, Serialized) or about is None:
            return read(states, widget)
        try:
            # A control may raise anything here.
            with suppress(Exception):
                states.states[widget] = Serialized(_in_field(about.value_type, state.value))
                return read(states, widget)
            # The state is replaced in its place, because other threads may go through all of them.
            states.states[widget] = Serialized(WidgetState(id=widget))
            return read(states, widget)
        finally:
            # Streamlit has put the field that was sent, or none, in place of the declared one.
            states.set_widget_metadata(about)

    WStates.__getitem__ = read_or_forget  # type: ignore[method-assign]


def _in_field(value_type: str, state: WidgetState) -> WidgetState:
    """Return a widget's value in the field that the widget declares.

    A page need not use that one: a number box declares a double, and its page sends a whole number as an integer.
    JSON has to be what JavaScript writes: without NaN, and with no integer that a double cannot hold.

    Raises:
        AttributeError, TypeError or ValueError: if the field cannot hold this value.
    """
    field = state.WhichOneof("value")
    if field == "json_value":
        json.loads(state.json_value, parse_int=_safe_integer, parse_constant=_safe_integer)
    if field in (None, value_type):
        return state
    converted, value = WidgetState(id=state.id), getattr(state, field)
    setattr(converted, value_type, value)
    if getattr(converted, value_type) != value:
        raise ValueError(f"{value_type} cannot hold this value")
    return converted


def _safe_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise ValueError("JavaScript writes no integer of that length")
    # NaN and Infinity raise a ValueError.
    return int(digits)
