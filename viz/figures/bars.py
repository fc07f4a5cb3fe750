"""Bars: one number for each token or head, several series side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from viz.figures.palette import BLUE, HEADS, ORANGE, plain, rgba

SERIES = (BLUE, ORANGE, *HEADS[2:])


def bars(
    labels: Sequence[str],
    series: Mapping[str, Tensor],
    *,
    title: str,
    value_title: str,
    top: float | None = None,
    colours: Sequence[tuple[int, int, int]] | None = None,
    height: int = 260,
) -> dict[str, Any]:
    """Draw one bar for each label and series; -inf and NaN leave a gap.

    Args:
        labels: what stands under each bar, shown literally.
        series: name in the legend -> one value for each label.
        title: what a label is (the key, the head).
        value_title: what the height is, with its unit.
        top: where the axis ends; None fits the values.
        colours: one for each bar of a single series; None colours by series.
        height: of the figure, in pixels.
    """
    places = list(range(len(labels)))
    names = [plain(label) for label in labels]
    traces = [
        {
            "type": "bar",
            "name": plain(name),
            "x": places,
            "y": values.detach().float().where(values.isfinite(), float("nan")).numpy(),
            "marker": {"color": [rgba(c, 0.9) for c in colours] if colours else rgba(SERIES[i % len(SERIES)], 0.9)},
            "customdata": names,
            "hovertemplate": "%{customdata}: %{y:.4f}<extra></extra>",
        }
        for i, (name, values) in enumerate(series.items())
    ]
    step = -(-len(labels) // 48)
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "title": {"text": title}, "tickvals": places[::step], "ticktext": names[::step], "tickangle": -60,
            "automargin": True, "showgrid": False,
        },
        "yaxis": {"title": {"text": value_title}, "automargin": True, "zeroline": True}
        | ({"range": [0, top]} if top else {}),
    }  # fmt: skip
    return {"data": traces, "layout": layout}
