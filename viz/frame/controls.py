"""Controls by their parameters' names, for what is not converted to :mod:`viz.params` yet."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import streamlit as st

from viz.params import KEEP, Choice, Flag, Int, Ints, OneOf, Parameter, Real, Scope, Text

__all__ = ["KEEP"]


def keep_apart(of: str, name: str) -> None:
    """Have a separate value for each owner."""
    Parameter[Any](name, scope=Scope(of)).enter()


def text_box(label: str, name: str, default: str, longest: int, *, draw: Callable[..., Any], **options: Any) -> str:
    """Draw a box for a text."""
    return Text(name, default, longest=longest).text_box(label, draw=draw, **options)


def slider(label: str, name: str, default: int, low: int, high: int, **options: Any) -> int:
    """Draw a slider for a whole number."""
    return Int(name, default, low=low, high=high).slider(label, **options)


def real_slider(
    label: str, name: str, default: float, low: float, high: float, *, step: float, **options: Any
) -> float:
    """Draw a slider for a number."""
    return Real(name, default, low=low, high=high).slider(label, step=step, **options)


def number_input(label: str, name: str, default: int, low: int, high: int, **options: Any) -> int:
    """Draw a box for a number."""
    return Int(name, default, low=low, high=high).number_input(label, **options)


def nearest(name: str, default: int, options: Sequence[int]) -> int:
    """Read one of a few whole numbers."""
    return Int(name, default, among=options, nearest=True).read()


def select_slider(label: str, name: str, default: int, values: Sequence[int], **options: Any) -> int:
    """Draw a slider over a few whole numbers."""
    return Int(name, default, among=values).select_slider(label, says=options.pop("format_func", str), **options)


def stepped(label: str, name: str, values: Sequence[float], **options: Any) -> None:
    """Draw a slider over a few numbers."""
    parameter = Parameter[Any](name)
    parameter.send_again(hash(tuple(map(options.get("format_func", str), values))))
    parameter.draw(st.select_slider, label, values, **options)


def selectbox(label: str, name: str, codes: Sequence[Any], says: Callable[[Any], str] = str, **options: Any) -> None:
    """Draw a list that opens."""
    parameter = Parameter[Any](name)
    parameter.send_again(hash(tuple(map(says, codes))))
    parameter.draw(st.selectbox, label, codes, format_func=says, **options)


def multiselect(label: str, name: str, codes: Sequence[Any], says: Callable[[Any], str] = str, **options: Any) -> None:
    """Draw a list that opens, for several."""
    parameter = Parameter[Any](name)
    parameter.send_again(hash(tuple(map(says, codes))))
    parameter.draw(st.multiselect, label, codes, format_func=says, **options)


def choice(
    label: str,
    name: str,
    codes: Sequence[str],
    says: Callable[[str], str],
    *,
    default: str | None = None,
    look: Literal["segments", "pills", "list", "radio"] = "segments",
    **options: Any,
) -> str:
    """Draw one of a few codes."""
    parameter = Choice(name, default, among=codes)
    looks = {"segments": OneOf.segments, "pills": OneOf.pills, "list": OneOf.selectbox, "radio": OneOf.radio}
    return str(looks[look](parameter, label, says=says, **options))


def toggle(label: str, name: str, default: bool = False, **options: Any) -> bool:
    """Draw a switch."""
    return Flag(name, default).toggle(label, **options)


def several(label: str, name: str, last: int, says: Callable[[int], str], **options: Any) -> list[int]:
    """Draw a pill for each of the whole numbers from 0 to ``last``."""
    return Ints(name, high=last).pills(label, says=says, **options)
