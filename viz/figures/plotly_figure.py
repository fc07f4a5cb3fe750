"""Figures of plotly's. It is imported with the first one: pictures that the browser draws do without it."""

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from viz.imports import importing

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Figure", "load_plotly", "plotly_figure"]


def load_plotly() -> None:
    """Import plotly, and pandas before it.

    plotly compares arrays with pandas' types as soon as pandas is in sys.modules, and fails while another thread is
    still importing it.

    Raises:
        ImportError: if plotly is not installed.
    """
    with importing():
        with suppress(ModuleNotFoundError):
            import_module("pandas")
        try:
            import_module("plotly.graph_objects")
        except ModuleNotFoundError as error:
            raise ImportError("A figure for close work is plotly's: pip install plotly") from error


def plotly_figure(data: Sequence[dict[str, Any]], layout: dict[str, Any]) -> "Figure":
    """Return traces and a layout as a figure.

    Raises:
        ValueError: if plotly has no such property, or not with such a value.
    """
    load_plotly()
    from plotly.graph_objects import Figure

    return Figure(data=list(data), layout=layout)
