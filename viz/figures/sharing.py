"""How a cache grows with the text, beside what fits into memory; and how several trainings went."""

from collections.abc import Mapping, Sequence
from math import log10
from statistics import median
from typing import Any

from viz.figures.palette import BLUE, GREY, HEADS, ORANGE, plain, rgba

SERIES = (BLUE, ORANGE, *HEADS[2:])
DASHES = ("solid", "dash", "dot")
Curve = Sequence[float]


def _layout(x_title: str, y_title: str, height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "traceorder": "normal", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {"title": {"text": x_title}, "automargin": True, "showgrid": False},
        "yaxis": {"title": {"text": y_title}, "automargin": True},
    }


def cache_growth(
    lengths: Sequence[int],
    caches: Mapping[str, Sequence[int]],
    memories: Mapping[str, int],
    *,
    at: int,
    x_title: str,
    y_title: str,
    height: int = 380,
) -> dict[str, Any]:
    """Draw bytes against tokens, both axes logarithmic, with a line for each size of memory.

    Args:
        lengths: numbers of tokens.
        caches: name in the legend -> bytes for each length.
        memories: name written on the line -> bytes.
        at: the number of tokens chosen, an upright line.
        x_title: what the tokens are.
        y_title: what the bytes are.
        height: of the figure, in pixels.
    """
    traces = [
        {
            "type": "scatter", "mode": "lines", "name": plain(name), "x": list(lengths), "y": [b / 1e9 for b in bytes_],
            "line": {"color": rgba(SERIES[i % len(SERIES)], 1), "dash": DASHES[i % 3], "width": 2},
            "hovertemplate": "%{x:,}: %{y:.4g} GB<extra></extra>",
        }
        for i, (name, bytes_) in enumerate(caches.items())
    ]  # fmt: skip
    line = {"type": "line", "line": {"color": rgba(GREY, 0.9), "width": 1, "dash": "dot"}}
    shapes = [line | {"xref": "paper", "x0": 0, "x1": 1, "y0": b / 1e9, "y1": b / 1e9} for b in memories.values()]
    shapes.append(line | {"yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at})
    log = {"type": "log"}
    layout = _layout(x_title, y_title, height)
    layout["xaxis"] |= log
    layout["yaxis"] |= log | {"dtick": 1}
    # On a logarithmic axis an annotation is placed by the exponent, though a shape is not.
    notes = [
        {
            "text": plain(name), "xref": "paper", "x": 0.01 + 0.09 * i, "xanchor": "left", "y": log10(b / 1e9),
            "yanchor": "bottom", "showarrow": False, "font": {"size": 11, "color": rgba(GREY, 1)},
        }
        for i, (name, b) in enumerate(memories.items())
    ]  # fmt: skip
    return {"data": traces, "layout": layout | {"shapes": shapes, "annotations": notes}}


def learning(
    steps: Sequence[int],
    runs: Mapping[str, Sequence[Curve]],
    *,
    x_title: str,
    y_title: str,
    top: float | None = None,
    height: int = 280,
) -> dict[str, Any]:
    """Draw the median of several trainings, over a band from the lowest to the highest of them.

    Args:
        steps: when it was measured.
        runs: name in the legend -> one curve for each training.
        x_title: what the steps are.
        y_title: what was measured.
        top: where the axis ends; None fits the values.
        height: of the figure, in pixels.
    """
    traces: list[dict[str, Any]] = []
    for i, (name, curves) in enumerate(runs.items()):
        hue, at = SERIES[i % len(SERIES)], list(zip(*curves, strict=True))
        edge = {
            "type": "scatter", "mode": "lines", "x": list(steps), "line": {"width": 0}, "hoverinfo": "skip",
            "showlegend": False,
        }  # fmt: skip
        traces += [
            edge | {"y": [min(values) for values in at]},
            edge | {"y": [max(values) for values in at], "fill": "tonexty", "fillcolor": rgba(hue, 0.15)},
            {
                "type": "scatter", "mode": "lines", "name": plain(name), "x": list(steps),
                "y": [median(values) for values in at],
                "line": {"color": rgba(hue, 1), "dash": DASHES[i % 3], "width": 2},
                "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
            },
        ]  # fmt: skip
    layout = _layout(x_title, y_title, height)
    layout["yaxis"] |= {"range": [0, top]} if top else {"rangemode": "tozero"}
    return {"data": traces, "layout": layout}
