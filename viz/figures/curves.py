"""Curves over anything, and over layers: a line for each series, which differ in hue and in dash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from viz.figures.line_chart import Axis, LineChart, Series
from viz.figures.palette import DASHES, GREY, HEADS, series_style

DOT = 6
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
    height: int = 280,
) -> LineChart:
    """Draw one curve for each series."""
    lines = [
        Series(
            name=name,
            x=list(at),
            y=values.detach().float().numpy(),
            colour=hues[i % len(hues)],
            dash=DASHES[i % len(DASHES)],
            marker=DOT if dots else 0,
            symbol=SYMBOLS[i % len(SYMBOLS)],
        )
        for i, (name, values) in enumerate(series.items())
    ]
    return LineChart(series=lines, x=x, y=y, height=height)


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


def depth(
    curves: Sequence[Curve], *, x_title: str, y_title: str, first: int = 0, log: bool = False, height: int = 300
) -> LineChart:
    """Draw curves over the layers; values that are not finite leave a gap."""
    n = max(len(curve.values) for curve in curves)
    series = [_series(curve, first, i) for i, curve in enumerate(curves)]
    levels = Axis(x_title, ticks=list(range(first, first + n)))
    values = Axis(y_title, grid=True, log=log, from_zero=not log)
    return LineChart(series=series, x=levels, y=values, height=height, legend=True)


def _series(curve: Curve, first: int, i: int) -> Series:
    colour, dash = (GREY, BASELINE_DASHES[i % len(BASELINE_DASHES)]) if curve.baseline else series_style(i)
    values = curve.values.detach().float()
    return Series(
        name=curve.name,
        x=list(range(first, first + len(values))),
        y=values.where(values.isfinite(), float("nan")).numpy(),
        colour=colour,
        dash=dash,
        marker=1 if curve.baseline else 6,
        low=None if curve.low is None else curve.low.tolist(),
        high=None if curve.high is None else curve.high.tolist(),
    )
