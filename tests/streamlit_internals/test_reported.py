"""A control is set only where it does not say so already."""

from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed

from viz.streamlit_internals.reported import without_what_is_said

NAME = "$$ID-0-name"


def element(kind: str, field: str, value: Any, *, is_set: bool = True) -> ForwardMsg:
    message = ForwardMsg()
    control = getattr(message.delta.new_element, kind)
    control.id, control.set_value = NAME, is_set
    if isinstance(value, list):
        getattr(control, field).extend(value)
    else:
        setattr(control, field, value)
    message.delta.new_element.has_one_shot_effect = is_set
    message.metadata.delta_path[:] = [0, 3]
    populate_hash_if_needed(message)
    return message


def said(field: str, value: Any) -> dict[str, WidgetState]:
    state = WidgetState(id=NAME)
    if isinstance(value, list):
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)
    return {NAME: state}


@pytest.mark.parametrize(
    ("kind", "field", "of_state", "value", "other"),
    [
        ("button_group", "raw_values", "string_array_value", ["zh"], ["en"]),
        ("button_group", "raw_values", "string_array_value", [], ["en"]),
        ("checkbox", "value", "bool_value", True, False),
        ("checkbox", "value", "bool_value", False, True),
        ("radio", "raw_value", "string_value", "mha", "gqa"),
        ("selectbox", "raw_value", "string_value", "causal", "window"),
        ("slider", "value", "double_array_value", [3.0], [5.0]),
        ("text_area", "value", "string_value", "the cat", "the cat "),
        ("text_area", "value", "string_value", "", "the cat"),
    ],
)
def test_what_is_reported_is_not_set_and_anything_else_is(kind, field, of_state, value, other):
    message = element(kind, field, value)
    less = without_what_is_said(message, said(of_state, value))
    control = getattr(less.delta.new_element, kind)
    assert (control.set_value, less.delta.new_element.has_one_shot_effect, control.id) == (False, False, NAME)
    assert less.metadata.delta_path[:] == [0, 3]
    assert message.delta.new_element.has_one_shot_effect, "Streamlit's own message stays what it was"
    never = element(kind, field, value, is_set=False)
    assert less.hash == never.hash != message.hash, "the same as one that sets nothing, so that it is known again"
    for reported in (said(of_state, other), {}, said("int_value", 7), {NAME: WidgetState(id=NAME)}):
        assert without_what_is_said(message, reported) is message


def test_what_has_an_effect_each_time_and_what_sets_nothing_stay_as_they_are():
    once = element("text_area", "value", "the cat", is_set=False)
    reported = said("string_value", "the cat")
    assert without_what_is_said(once, reported) is once
    once.delta.new_element.has_one_shot_effect = True
    assert without_what_is_said(once, reported) is once
    toast = ForwardMsg()
    toast.delta.new_element.toast.body = "the cat"
    toast.delta.new_element.has_one_shot_effect = True
    for message in (toast, ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)):
        assert without_what_is_said(message, reported) is message
