"""Curves over anything, over layers and over offsets: a line for each series, which differ in hue and in dash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import DASHES, GREY, HEADS, series_style

DOT = 6
MOST_DOTS = 40
"""A curve over more places is drawn without a dot for each."""
SYMBOLS = ("circle", "square")
BASELINE_DASHES = ("dot", "dashdot")


def curves(
    at: Sequence[float],
    series: Mapping[str, Tensor],
    *,
    x: Axis,
    y: Axis,
    hues: Sequence[tuple[int, int, int]] = HEADS,
    dots: bool = False,
    marks: Sequence[Mark] = (),
    hover: str = "{x}: {y}",
    height: int = 280,
) -> LineChart:
    """Draw one curve for each series; ``hover`` is what the pointer reads at a point."""
    lines = [
        Series(
            name=name,
            x=list(at),
            y=values.detach().float().numpy(),
            colour=hues[i % len(hues)],
            dash=DASHES[i % len(DASHES)],
            marker=DOT if dots else 0,
            symbol=SYMBOLS[i % len(SYMBOLS)],
            says=hover,
        )
        for i, (name, values) in enumerate(series.items())
    ]
    return LineChart(series=lines, x=x, y=y, marks=marks, height=height)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A series: a value for each level, and the ``low`` and ``high`` ends of its band, if it has one.

    ``at`` are its places where these are no levels. A ``baseline`` is grey and dotted: what
    the others are to be compared with.
    """

    name: str
    values: Tensor
    at: Tensor | None = None
    low: Tensor | None = None
    high: Tensor | None = None
    baseline: bool = False


def depth(curves: Sequence[Curve], *, x_title: str, y_title: str, log: bool = False, height: int = 300) -> LineChart:
    """Draw curves over the layers; values that are not finite leave a gap."""
    n = max(len(curve.values) for curve in curves)
    series = [_series(curve, i) for i, curve in enumerate(curves)]
    levels = Axis(x_title, ticks=list(range(n)))
    values = Axis(y_title, grid=True, log=log, from_zero=not log)
    return LineChart(series=series, x=levels, y=values, height=height, legend=True)


def over_offsets(
    curves: Sequence[Curve],
    *,
    x_title: str,
    y_title: str,
    marks: Sequence[float] = (),
    limits: tuple[float, float] | None = None,
    height: int = 300,
) -> LineChart:
    """Draw curves over offsets (key minus query), which ``marks`` mark by an upright line; a long one has no dots."""
    series = [_series(curve, i) for i, curve in enumerate(curves)]
    values = Axis(y_title, grid=True, limits=limits)
    return LineChart(series=series, x=Axis(x_title), y=values, marks=[Mark(x=at) for at in marks], height=height)


def _series(curve: Curve, i: int) -> Series:
    colour, dash = (GREY, BASELINE_DASHES[i % len(BASELINE_DASHES)]) if curve.baseline else series_style(i)
    values = curve.values.detach().float()
    return Series(
        name=curve.name,
        x=list(range(len(values))) if curve.at is None else curve.at.tolist(),
        y=values.where(values.isfinite(), float("nan")).numpy(),
        colour=colour,
        dash=dash,
        marker=0 if len(values) > MOST_DOTS else 1 if curve.baseline else DOT,
        low=None if curve.low is None else curve.low.tolist(),
        high=None if curve.high is None else curve.high.tolist(),
    )
