"""Data of a line chart in the browser: its numbers as they are, and how each line looks."""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from viz.figures.line_chart import Axis, LineChart, Series, Values
from viz.figures.palette import GREY


def packed(chart: LineChart) -> dict[str, Any]:
    """A chart for ``client/charts/lines.js``."""
    finite = [mark for mark in chart.marks if all(map(math.isfinite, filter(None, (mark.x, mark.y, mark.radius))))]
    return {
        "lines": [_line(series) for series in chart.series],
        "x": _axis(chart.x),
        "y": _axis(chart.y),
        "marks": list(map(asdict, finite)),
        "height": chart.height,
        "square": chart.square,
        "legend": chart.has_legend(),
        "grey": list(GREY),
    }


def _axis(axis: Axis) -> dict[str, Any]:
    """Limits that are not finite are none: the axis fits what there is."""
    has_ends = axis.limits is None or all(map(math.isfinite, axis.limits))
    return asdict(axis if has_ends else replace(axis, limits=None))


def _line(series: Series) -> dict[str, Any]:
    has_band = series.low is not None and series.high is not None
    return {
        **{name: getattr(series, name) for name in ("name", "dash", "marker", "symbol", "faint", "says", "listed")},
        "colour": list(series.colour),
        "x": _row(series.x),
        "y": _row(series.y),
        "low": _row(series.low) if has_band else None,
        "high": _row(series.high) if has_band else None,
    }


def _row(values: Values | None) -> list[float | None]:
    """Numbers as JSON holds them: what is not finite is nothing."""
    array = np.asarray(values).ravel()
    row = array.tolist()
    if array.dtype.kind in "fi" and np.isfinite(array).all():
        return list(row)
    return [value if math.isfinite(value) else None for value in row]
