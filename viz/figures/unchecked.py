"""A figure as the screen takes it, without plotly asking of every property whether there is such a one."""

from typing import Any

from plotly.graph_objects import Figure
from plotly.optional_imports import get_module

# Plotly asks of every value whether it is one of pandas', if that is there. While another visitor's first table has it
# imported, half of it is there, and the figure fails: so all of it is imported first.
get_module("pandas")


def unchecked(fig: dict[str, Any]) -> Figure:
    """The figure of a dict. Streamlit would have every dict checked, in 2 to 5 ms each time; the tests do it."""
    return Figure(fig, _validate=False)
