"""A control that stands where it is to be set is not set: by Streamlit's private names, as all in this folder.

A value that the script has given is set in the browser once more with every page, and the control is drawn twice for
it: as it is told, and with what is set. With each of its changes a browser reports what all of its controls say.
"""

from collections.abc import Mapping

from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed

_SET = {
    "button_group": "raw_values",
    "checkbox": "value",
    "radio": "raw_value",
    "selectbox": "raw_value",
    "slider": "value",
    "text_area": "value",
}
"""By kind of control: where in its message the value stands that is to be set."""


def control_of(delta: Delta) -> str:
    """The name of the control that is drawn; "" if it is none."""
    if delta.HasField("add_block"):
        return delta.add_block.id
    element = delta.new_element
    return getattr(getattr(element, element.WhichOneof("type") or "", None), "id", "")


def without_what_is_said(message: ForwardMsg, reported: Mapping[str, WidgetState]) -> ForwardMsg:
    """The message of an element, which sets nothing if the browser reports that very value.

    Args:
        message: of any kind.
        reported: what the browser's controls say, by the control.
    """
    element = message.delta.new_element
    kind = element.WhichOneof("type") or ""
    if not element.has_one_shot_effect or kind not in _SET:
        return message
    control = getattr(element, kind)
    state = reported.get(control_of(message.delta))
    if state is None or not control.set_value or _value(state) != _plain(getattr(control, _SET[kind])):
        return message
    less = ForwardMsg()
    less.CopyFrom(message)
    less.delta.new_element.has_one_shot_effect = getattr(less.delta.new_element, kind).set_value = False
    less.ClearField("hash")
    populate_hash_if_needed(less)
    return less


def _value(state: WidgetState) -> object:
    value = getattr(state, state.WhichOneof("value") or "", None)
    return _plain(getattr(value, "data", value))


def _plain(value: object) -> object:
    """A list as Python has it; anything else as it is."""
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, str | bytes) else value
