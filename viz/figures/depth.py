"""How something changes from layer to layer: a line for each series, with a band where several heads lie apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from viz.figures.palette import BLUE, GREY, HEADS, ORANGE, plain, rgba

SERIES = (BLUE, ORANGE, *HEADS[2:])
DASHES = ("solid", "dash", "dot", "dashdot")
BASE_DASHES = ("dot", "dashdot", "dot", "dashdot")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A series: a value for each level, and the ``low`` and ``high`` ends of its band, if it has one.

    A ``baseline`` is grey and dotted: what the others are to be compared with.
    """

    name: str
    values: Tensor
    low: Tensor | None = None
    high: Tensor | None = None
    baseline: bool = False


def _line(curve: Curve, first: int, place: int) -> list[dict[str, Any]]:
    hue = GREY if curve.baseline else SERIES[place % len(SERIES)]
    levels = list(range(first, first + len(curve.values)))
    drawn: list[dict[str, Any]] = []
    if curve.low is not None and curve.high is not None:
        edge = {
            "type": "scatter", "mode": "lines", "x": levels, "line": {"width": 0}, "hoverinfo": "skip",
            "showlegend": False,
        }  # fmt: skip
        drawn = [
            edge | {"y": curve.low.tolist()},
            edge | {"y": curve.high.tolist(), "fill": "tonexty", "fillcolor": rgba(hue, 0.15)},
        ]
    finite = curve.values.detach().float()
    name = plain(curve.name)
    return [
        *drawn,
        {
            "type": "scatter", "mode": "lines+markers", "name": name, "x": levels,
            "y": finite.where(finite.isfinite(), float("nan")).numpy(),
            "line": {"color": rgba(hue, 1), "dash": (BASE_DASHES if curve.baseline else DASHES)[place % 4], "width": 2},
            "marker": {"color": rgba(hue, 1), "size": 1 if curve.baseline else 6},
            "hovertemplate": f"{name}<br>%{{x}}: %{{y:.3~g}}<extra></extra>",
        },
    ]  # fmt: skip


def depth(
    curves: Sequence[Curve],
    *,
    x_title: str,
    y_title: str,
    first: int = 0,
    log: bool = False,
    height: int = 300,
) -> dict[str, Any]:
    """Draw curves over the layers; values that are not finite leave a gap.

    Args:
        curves: what is drawn, in order.
        x_title: what a level is.
        y_title: what the values are, with their unit.
        first: the number of the first level.
        log: a logarithmic axis for the values.
        height: of the figure, in pixels.
    """
    n = max(len(curve.values) for curve in curves)
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": True,
        "legend": {"orientation": "h", "traceorder": "normal", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "title": {"text": x_title}, "tickvals": list(range(first, first + n)), "automargin": True,
            "showgrid": False,
        },
        "yaxis": {"title": {"text": y_title}, "automargin": True, "gridcolor": rgba(GREY, 0.2)}
        | ({"type": "log", "exponentformat": "power"} if log else {"rangemode": "tozero"}),
    }  # fmt: skip
    return {"data": [trace for i, curve in enumerate(curves) for trace in _line(curve, first, i)], "layout": layout}
