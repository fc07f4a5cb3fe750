"""A figure as the screen takes it, without plotly asking of every property whether there is such a one."""

from functools import cache
from typing import Any

from plotly.basedatatypes import BaseFigure
from plotly.io import templates
from plotly.optional_imports import get_module

# Plotly asks of every value whether it is one of pandas', if that is there. While another visitor's first table has it
# imported, half of it is there, and the figure fails: so all of it is imported first.
get_module("pandas")


@cache
def _template(name: str) -> dict[str, Any]:
    """What figures look like where they say nothing; Streamlit names a template of its own."""
    return dict(templates[name].to_plotly_json())


class _Unchecked(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """What plotly's own ``to_dict`` reads, and nothing else: an object for every property takes 3 ms a figure."""

    def __init__(self, fig: dict[str, Any]) -> None:
        self._data, self._layout, self._frame_objs = fig["data"], fig.get("layout", {}), ()

    def to_dict(self) -> dict[str, Any]:
        made = dict(super().to_dict())
        made["layout"].setdefault("template", _template(templates.default))
        return made


def unchecked(fig: dict[str, Any]) -> BaseFigure:
    """The figure of a dict. Streamlit would have every dict checked, in 2 to 5 ms each time; the tests do it."""
    return _Unchecked(fig)
