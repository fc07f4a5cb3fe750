"""Every head of a model as a point between two axes, beside those of a model of random weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from viz.figures.layout import axis, base_layout
from viz.figures.palette import BLUE, GREY, ORANGE, plain, rgba
from viz.figures.plotly_figure import plotly_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

DOT, LARGE = 8, 15
"""Pixels of a point, and of the ring around the chosen one."""


@dataclass(frozen=True, kw_only=True)
class Points:
    """Heads of one model: where they lie (N,), and what the pointer reads at each."""

    name: str
    x: Tensor
    y: Tensor
    says: Sequence[str]


def head_points(heads: Points, by_chance: Points, chosen: int, *, x_title: str, y_title: str) -> "Figure":
    """Draw two clouds of heads, those of random weights behind, and a ring around the chosen head."""
    ring = {"color": "rgba(0,0,0,0)", "size": LARGE, "line": {"color": rgba(ORANGE, 1), "width": 3}}
    traces = [
        _cloud(by_chance, {"color": rgba(GREY, 0.55), "size": DOT, "symbol": "x"}),
        _cloud(heads, {"color": rgba(BLUE, 0.75), "size": DOT}),
        {
            "type": "scatter",
            "mode": "markers",
            "x": [float(heads.x[chosen])],
            "y": [float(heads.y[chosen])],
            "marker": ring,
            "hoverinfo": "skip",
            "showlegend": False,
        },
    ]
    x, y = (axis(title, grid=True, zeroline=False) for title in (x_title, y_title))
    return plotly_figure(traces, base_layout(380, showlegend=True, xaxis=x, yaxis=y))


def _cloud(points: Points, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(points.name),
        "x": points.x.float().tolist(),
        "y": points.y.float().tolist(),
        "marker": marker,
        "customdata": [plain(text) for text in points.says],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
