"""Controls that a user can change on a page, read from the server's elements, and the encoding of their values."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

Value = str | float | bool | list[str] | dict[str, Any] | None
"""None: nothing chosen, or nothing touched yet."""


@dataclass(frozen=True, kw_only=True)
class Control:
    """One widget: its id, its allowed values, and its first value."""

    id: str
    kind: str
    value: Value
    options: tuple[str, ...] = ()
    span: tuple[float, float, float] = (0, 0, 0)
    """From, to, in steps of."""
    forced: bool = False
    """The server has set the value itself, whatever the browser holds."""
    data: str | bytes = ""
    """The data of a component."""
    fragment: str = ""

    @property
    def key(self) -> str:
        """The name the app gave it; ids are ``$$ID-<hash>-<key>``."""
        return self.id.split("-", 2)[2]


def _slider(proto: Any) -> dict[str, Any]:
    if proto.type == proto.SELECT_SLIDER:
        value = list(proto.raw_value) if proto.set_value else [proto.options[int(at)] for at in proto.default]
        return {"kind": "select", "value": value, "options": tuple(proto.options)}
    value = list(proto.value if proto.set_value else proto.default)
    return {"kind": "slider", "value": value[0], "span": (proto.min, proto.max, proto.step)} if len(value) == 1 else {}


def _one_of(proto: Any) -> dict[str, Any]:
    selected = proto.options[proto.default] if proto.HasField("default") and proto.options else None
    value = (proto.raw_value or None) if proto.set_value else selected
    return {"kind": "one", "value": value, "options": tuple(proto.options)}


def _buttons(proto: Any) -> dict[str, Any]:
    options = tuple(option.content for option in proto.options)
    value = list(proto.raw_values) if proto.set_value else [options[at] for at in proto.default]
    return {"kind": "several" if proto.click_mode else "select", "value": value, "options": options}


def _several(proto: Any) -> dict[str, Any]:
    options = tuple(proto.options)
    value = list(proto.raw_values) if proto.set_value else [options[at] for at in proto.default]
    return {"kind": "several", "value": value, "options": options}


def _number(proto: Any) -> dict[str, Any]:
    number = int if proto.data_type == proto.INT else float
    value = number(proto.value if proto.set_value else proto.default)
    return {"kind": "number", "value": value, "span": (number(proto.min), number(proto.max), number(proto.step))}


def _plain(kind: str) -> Callable[[Any], dict[str, Any]]:
    return lambda proto: {"kind": kind, "value": proto.value if proto.set_value else proto.default}


def _component(proto: Any) -> dict[str, Any]:
    return {"kind": "component", "value": None, "data": proto.bytes or proto.json}


READ: dict[str, Callable[[Any], dict[str, Any]]] = {
    "slider": _slider,
    "selectbox": _one_of,
    "radio": _one_of,
    "multiselect": _several,
    "button_group": _buttons,
    "number_input": _number,
    "checkbox": _plain("flag"),
    "text_area": _plain("text"),
    "text_input": _plain("text"),
    "bidi_component": _component,
}


def read(element: Element, fragment: str = "") -> Control | None:
    """The control an element is, if it is one that a browser reports."""
    kind = element.WhichOneof("type") or ""
    if kind not in READ:
        return None
    proto = getattr(element, kind)
    control = READ[kind](proto)
    forced = bool(getattr(proto, "set_value", False))
    return Control(id=proto.id, forced=forced, fragment=fragment, **control) if control and proto.id else None


def write(control: Control, value: Value, into: WidgetState) -> None:
    """Say a control's value as a browser does."""
    into.id = control.id
    if value is None:
        return
    if control.kind in ("select", "several"):
        into.string_array_value.data.extend(value)
    elif control.kind == "slider":
        into.double_array_value.data.append(value)
    elif control.kind == "component":
        into.json_value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    elif control.kind == "number":
        setattr(into, "int_value" if isinstance(value, int) else "double_value", value)
    else:
        field = {"one": "string_value", "text": "string_value", "flag": "bool_value"}
        setattr(into, field[control.kind], value)
