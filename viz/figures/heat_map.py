"""A head's map as a figure of plotly's, for notebooks: to zoom, pan and save."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from viz.figures.layout import LETTERS, axis, base_layout
from viz.figures.palette import plain, weights_scale
from viz.figures.plotly_figure import plotly_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

HEIGHT = 560
BAR = {"thickness": 10, "len": 0.9, "tickfont": LETTERS}
"""The scale of colours, at the right."""


def heat_map(
    weights: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, row_title: str = "", column_title: str = ""
) -> "Figure":
    """Return weights, (rows, columns), as a figure.

    Raises:
        ImportError: if plotly is not installed.

    Example:
        >>> figure = heat_map([[1.0, 0.0], [0.25, 0.75]], ["a", "b"], ["a", "b"])
        >>> figure.data[0].z.tolist()
        [[1.0, 0.0], [0.25, 0.75]]
    """
    trace = {
        "type": "heatmap",
        "z": np.asarray(weights),
        "x": _places(columns),
        "y": _places(rows),
        "zmin": 0,
        "zmax": 1,
        "colorscale": weights_scale(),
        "colorbar": BAR,
        "hovertemplate": "%{y} → %{x}: <b>%{z:.6~g}</b><extra></extra>",
    }
    x, y = axis(plain(column_title), **_names(columns)), axis(plain(row_title), **_names(rows), autorange="reversed")
    return plotly_figure([trace], base_layout(HEIGHT, xaxis=x, yaxis=y))


def _places(names: Sequence[str]) -> list[str]:
    """A category for each name: equal names are different places."""
    return [str(i) for i in range(len(names))]


def _names(names: Sequence[str]) -> dict[str, Any]:
    """An axis of places, each with its name in place of its number; plotly leaves out those without room."""
    return {"type": "category", "labelalias": {str(i): plain(name) for i, name in enumerate(names)}}
