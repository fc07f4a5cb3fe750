"""A line chart: values along an axis, with bands around them and marks laid over them. All line figures are this one.

An axis is made by :func:`~viz.figures.layout.axis`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from viz.figures.layout import LETTERS, Figure, base_layout, log_ticks
from viz.figures.palette import GREY, plain, rgba

Values = Sequence[float] | NDArray[Any]

LINE = 2
BAND_OPACITY = 0.15
DOT = 8
APART = 3
"""Pixels between a label and its line."""
LABEL_STEP = 16
"""Pixels between the labels of two upright lines."""
LABEL_WIDTH = 0.2
"""What the label of a level line takes up on a phone, as a share of the figure's width."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """A line of a chart, with dots on it if it has a ``marker``, and a band from ``low`` to ``high`` if it has them.

    ``dash`` None leaves the line out, and ``marker``, the size of a dot in pixels, 0 the dots. ``hover`` is what the
    pointer reads at a point, in plotly's format, below the name. ``listed``: it stands in the legend.
    """

    name: str
    x: Values
    y: Values
    colour: tuple[int, int, int]
    dash: str | None = "solid"
    marker: float = 0
    symbol: str = "circle"
    low: Values | None = None
    high: Values | None = None
    hover: str = "%{x}: %{y:.4g}"
    listed: bool = True


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A place marked on a chart: an upright line at ``x``, a level line at ``y``, or a dot where both are given."""

    x: float | None = None
    y: float | None = None
    label: str = ""


def line_chart(
    series: Sequence[Series],
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    marks: Sequence[Mark] = (),
    height: int = 300,
    legend: bool | None = None,
) -> Figure:
    """Draw series and their bands over one pair of axes, and marks over them.

    Args:
        series: what is drawn, in order; names are shown literally.
        x: the axis along the bottom.
        y: the axis of the values.
        marks: lines and dots laid over the series; labels are shown literally.
        height: of the figure, in pixels.
        legend: whether there is one; None shows it where there are several series.
    """
    along = [float(value) for line in series for value in line.x]
    values = [float(value) for line in series for value in line.y]
    dots = [mark for mark in marks if mark.x is not None and mark.y is not None]
    lines = [mark for mark in marks if mark not in dots]
    labels = [*_upright_labels(lines, x, along), *_level_labels(lines, y)]
    over = {"shapes": [_shape(mark) for mark in lines], "annotations": labels}
    layout = base_layout(
        height,
        showlegend=sum(line.listed for line in series) > 1 if legend is None else legend,
        xaxis=_with_ticks(x, along),
        yaxis=_with_ticks(y, values),
        **{name: drawn for name, drawn in over.items() if drawn},
    )
    drawn = [trace for line in series for trace in (*_band(line), _line(line))]
    return {"data": [*drawn, *map(_dot, dots)], "layout": layout}


def _with_ticks(axis: dict[str, Any], values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis with ticks that suit the values, unless it says which it has."""
    as_it_is = axis.get("type") != "log" or "tickvals" in axis or "dtick" in axis
    return axis if as_it_is else axis | log_ticks(values)


def _line(series: Series) -> dict[str, Any]:
    name, colour = plain(series.name), rgba(series.colour, 1)
    modes = [mode for mode, there in (("lines", series.dash), ("markers", series.marker)) if there]
    trace = {
        "type": "scatter",
        "mode": "+".join(modes),
        "name": name,
        "legendgroup": name,
        "showlegend": series.listed,
        "x": series.x,
        "y": series.y,
        "hovertemplate": f"{name}<br>{series.hover}<extra></extra>",
    }
    if series.dash:
        trace["line"] = {"color": colour, "width": LINE, "dash": series.dash}
    if series.marker:
        trace["marker"] = {"color": colour, "size": series.marker, "symbol": series.symbol}
    return trace


def _band(series: Series) -> Iterator[dict[str, Any]]:
    """Two edges that are not drawn, the upper one filled down to the lower."""
    if series.low is None or series.high is None:
        return
    edge = {
        "type": "scatter",
        "mode": "lines",
        "x": series.x,
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": plain(series.name),
    }
    yield edge | {"y": series.low}
    yield edge | {"y": series.high, "fill": "tonexty", "fillcolor": rgba(series.colour, BAND_OPACITY)}


def _dot(mark: Mark) -> dict[str, Any]:
    """A dot with its label above it."""
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [mark.x],
        "y": [mark.y],
        "text": [plain(mark.label)],
        "textposition": "top center",
        "textfont": LETTERS,
        "marker": {"color": rgba(GREY, 1), "size": DOT},
        "cliponaxis": False,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _shape(mark: Mark) -> dict[str, Any]:
    line = {"type": "line", "line": {"color": rgba(GREY, 0.9), "width": 1.5, "dash": "dot"}}
    if mark.x is not None:
        return line | {"yref": "paper", "y0": 0, "y1": 1, "x0": mark.x, "x1": mark.x}
    return line | {"xref": "paper", "x0": 0, "x1": 1, "y0": mark.y, "y1": mark.y}


def _place(axis: dict[str, Any], value: float) -> float:
    """Where a label stands: on a logarithmic axis at the exponent, though a shape stands at the value."""
    return math.log10(value) if axis.get("type") == "log" else value


def _label(text: str, **place: Any) -> dict[str, Any]:
    return {"text": plain(text), "showarrow": False, "font": LETTERS} | place


def _upright_labels(marks: Sequence[Mark], axis: dict[str, Any], values: Sequence[float]) -> Iterator[dict[str, Any]]:
    """At the top, each a line lower than the one before, on the side of its mark where the middle of the axis is."""
    labelled = [(mark.x, mark.label) for mark in marks if mark.x is not None and mark.label]
    for line, (at, text) in enumerate(labelled):
        middle = (_place(axis, min(values)) + _place(axis, max(values))) / 2
        x = _place(axis, at)
        anchor, shift = ("right", -APART) if x > middle else ("left", APART)
        top = {"yref": "paper", "y": 1, "yanchor": "top", "yshift": -LABEL_STEP * line}
        yield _label(text, x=x, xanchor=anchor, xshift=shift, **top)


def _level_labels(marks: Sequence[Mark], axis: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """At the left, above or below the line, where the next one is farther away; beside the label of the one before."""
    labelled = [(mark.y, mark.label) for mark in marks if mark.y is not None and mark.label]
    levels = [_place(axis, at) for at, _ in labelled]
    for i, (y, (_, text)) in enumerate(zip(levels, labelled, strict=True)):
        above = min((other - y for other in levels if other > y), default=math.inf)
        below = min((y - other for other in levels if other < y), default=math.inf)
        anchor, shift = ("bottom", APART) if above >= below else ("top", -APART)
        beside = {"xref": "paper", "x": 0.01 + LABEL_WIDTH * (i % 2), "xanchor": "left"}
        yield _label(text, y=y, yanchor=anchor, yshift=shift, **beside)
