"""Curves over offsets (key minus query) or over distances, with the band they vary in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import BLUE, GREY, ORANGE

LINE_COLOURS = (BLUE, ORANGE, GREY)
MOST_DOTS = 40
"""A curve over more places is drawn without a dot for each."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Values at places, and how far single ones lie from them (a standard deviation), if they do."""

    x: Tensor
    y: Tensor
    spread: Tensor | None = None


def offset_curves(
    curves: Mapping[str, Curve],
    *,
    x_title: str,
    y_title: str,
    marks: Sequence[float] = (),
    limits: tuple[float, float] | None = None,
    height: int = 300,
) -> LineChart:
    """Draw one line for each curve, and a band as wide as its spread."""
    return LineChart(
        series=[_series(name, curve, hue) for (name, curve), hue in zip(curves.items(), LINE_COLOURS, strict=False)],
        x=Axis(x_title),
        y=Axis(y_title, grid=True, limits=limits),
        marks=[Mark(x=at) for at in marks],
        height=height,
    )


def _series(name: str, curve: Curve, hue: tuple[int, int, int]) -> Series:
    y, spread = curve.y.detach().float(), curve.spread
    return Series(
        name=name,
        x=curve.x.tolist(),
        y=y.numpy(),
        colour=hue,
        marker=5 if len(y) <= MOST_DOTS else 0,
        low=None if spread is None else (y - spread).numpy(),
        high=None if spread is None else (y + spread).numpy(),
    )
