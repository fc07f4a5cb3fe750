"""A figure as the screen takes it, without plotly asking of every property whether there is such a one."""

from functools import cache
from typing import Any

from _plotly_utils.basevalidators import is_homogeneous_array
from _plotly_utils.utils import to_typed_array_spec
from plotly.basedatatypes import BaseFigure
from plotly.io import templates
from plotly.optional_imports import get_module


@cache
def _template(name: str) -> dict[str, Any]:
    """What figures look like where they say nothing; Streamlit names a template of its own."""
    return dict(templates[name].to_plotly_json())


def _sent(value: Any) -> Any:
    """The same with arrays as the bytes they are sent as; lists of plain values are shared, not copied."""
    if isinstance(value, dict):
        return {name: _sent(part) for name, part in value.items()}
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return [_sent(part) for part in value]
    return to_typed_array_spec(value) if is_homogeneous_array(value) else value


class _Unchecked(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """Says of itself what plotly's own figure would, which takes 3 ms to make an object for every property."""

    def __init__(self, fig: dict[str, Any]) -> None:
        self._fig = fig

    def to_dict(self) -> dict[str, Any]:
        made: dict[str, Any] = _sent({"layout": {}} | self._fig)
        made["layout"].setdefault("template", _template(templates.default))
        return made


def unchecked(fig: dict[str, Any]) -> BaseFigure:
    """The figure of a dict. Streamlit would have every dict checked, in 2 to 5 ms each time; the tests do it."""
    # Plotly asks of every value whether it is one of pandas', if that is there. While another visitor's first table has
    # it imported, half of it is there, and the figure fails: so all of it is imported first, with the first figure.
    get_module("pandas")
    return _Unchecked(fig)
