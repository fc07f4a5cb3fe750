"""Vectors on the plane of one pair of dimensions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from viz.figures.line_chart import Axis, LineChart, Mark, Series

TIP = 9
"""Of a vector's tip, in pixels."""


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """A vector from the origin; a faint one is where it was before."""

    name: str
    tip: tuple[float, float]
    hue: tuple[int, int, int]
    faint: bool = False


def plane(arrows: Sequence[Arrow], *, x_title: str, y_title: str) -> LineChart:
    """Draw vectors with equal axes, and the circle each of them turns on."""
    lengths = [math.hypot(*arrow.tip) for arrow in arrows]
    reach = 1.15 * max(lengths) or 1.0
    return LineChart(
        series=[series for arrow in arrows for series in _series(arrow)],
        x=Axis(x_title, grid=True, limits=(-reach, reach)),
        y=Axis(y_title, grid=True, limits=(-reach, reach)),
        marks=[Mark(radius=r) for r in {round(length, 6) for length in lengths} if r],
        height=380,
        square=True,
    )


def _series(arrow: Arrow) -> Iterator[Series]:
    """Its line, and its tip, where it is read off."""
    (x, y), dash = arrow.tip, "dot" if arrow.faint else "solid"
    line = Series(name=arrow.name, x=[0, x], y=[0, y], colour=arrow.hue, dash=dash, faint=arrow.faint, says="")
    yield line
    yield replace(line, x=[x], y=[y], dash=None, marker=TIP, says="({x}, {y})", listed=False)
