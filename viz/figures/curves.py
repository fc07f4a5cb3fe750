"""Curves: how something grows with a size."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from viz.figures.palette import BLUE, HEADS, ORANGE, plain, rgba

SERIES = (ORANGE, BLUE, *HEADS[2:])


def curves(
    sizes: Sequence[int],
    series: Mapping[str, Tensor],
    *,
    size_title: str,
    value_title: str,
    log_values: bool = False,
    height: int = 280,
) -> dict[str, Any]:
    """Draw one curve for each series, with a point for each size.

    Args:
        sizes: what lies along the axis, which is logarithmic.
        series: name in the legend -> one value for each size.
        size_title: what the sizes are.
        value_title: what the values are, with their unit.
        log_values: a logarithmic axis for the values too; else it goes from 0 to 1.
        height: of the figure, in pixels.
    """
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(name),
            "x": list(sizes),
            "y": values.detach().float().numpy(),
            "line": {"color": rgba(SERIES[i % len(SERIES)], 1), "dash": ("solid", "dash")[i % 2]},
            "marker": {"color": rgba(SERIES[i % len(SERIES)], 1), "symbol": ("circle", "square")[i % 2]},
            "hovertemplate": "%{x}: %{y:.4g}<extra></extra>",
        }
        for i, (name, values) in enumerate(series.items())
    ]
    values_axis = {"type": "log", "dtick": 1} if log_values else {"range": [0, 1.02]}
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "title": {"text": size_title}, "type": "log", "tickvals": list(sizes), "automargin": True,
            "showgrid": False,
        },
        "yaxis": {"title": {"text": value_title}, "automargin": True} | values_axis,
    }  # fmt: skip
    return {"data": traces, "layout": layout}
