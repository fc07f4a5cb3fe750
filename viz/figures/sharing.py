"""Growth of a cache with the text, beside the size of memory; and loss curves of several trainings."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import series_style

Curve = Sequence[float]


def cache_growth(
    lengths: Sequence[int],
    caches: Mapping[str, Sequence[int]],
    memories: Mapping[str, int],
    *,
    at: int,
    x_title: str,
    y_title: str,
    height: int = 380,
) -> LineChart:
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
    series = [
        _series(i, name, lengths, [float(size) for size in sizes]) for i, (name, sizes) in enumerate(caches.items())
    ]
    marks = [*(Mark(y=size, label=name) for name, size in memories.items()), Mark(x=at)]
    value_axis = Axis(y_title, log=True, grid=True, in_bytes=True)
    return LineChart(series=series, x=Axis(x_title, log=True), y=value_axis, marks=marks, height=height)


def learning(
    steps: Sequence[int],
    runs: Mapping[str, Sequence[Curve]],
    *,
    x_title: str,
    y_title: str,
    top: float | None = None,
    height: int = 280,
) -> LineChart:
    """Draw the median of several trainings, over a band from the lowest to the highest of them.

    Args:
        steps: when it was measured.
        runs: name in the legend -> one curve for each training.
        x_title: what the steps are.
        y_title: what was measured.
        top: where the axis ends; None fits the values.
        height: of the figure, in pixels.
    """
    series = []
    for i, (name, curves) in enumerate(runs.items()):
        low, middle, high = ([of(at) for at in zip(*curves, strict=True)] for of in (min, median, max))
        series.append(_series(i, name, steps, middle, low=low, high=high))
    value_axis = Axis(y_title, grid=True, from_zero=True, limits=(0, top) if top else None)
    return LineChart(series=series, x=Axis(x_title), y=value_axis, height=height)


def _series(i: int, name: str, x: Sequence[int], y: Curve, **more: Any) -> Series:
    colour, dash = series_style(i)
    return Series(name=name, x=list(x), y=y, colour=colour, dash=dash, **more)
