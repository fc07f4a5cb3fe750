"""A line chart: values along an axis, with bands around them and marks over them. All line figures are this one."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import NDArray

Values = Sequence[float] | NDArray[Any]


@dataclass(frozen=True)
class Axis:
    """One side of a chart, logarithmic or even, perhaps with a line at each tick, from 0 on, or reversed.

    None fits the limits to the values, and chooses round numbers for ticks. Bytes are written as sentences write them:
    24 KiB (:func:`viz.text.sizes.size`).
    """

    title: str
    _: KW_ONLY
    log: bool = False
    grid: bool = False
    limits: tuple[float, float] | None = None
    ticks: Sequence[float] | None = None
    from_zero: bool = False
    reversed: bool = False
    in_bytes: bool = False


@dataclass(frozen=True, kw_only=True)
class Series:
    """A line of a chart, with signs on it if it has a ``marker``, and a band from ``low`` to ``high`` if it has them.

    ``dash`` None leaves the line out, and ``marker``, the size of a sign in pixels, 0 the signs. A ``faint`` one is
    drawn lightly. ``says`` is what the pointer reads at a point, with {x} and {y}. ``listed``: it stands in the legend.
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
    faint: bool = False
    says: str = "{x}: {y}"
    listed: bool = True


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Mark on a chart: an upright line at ``x``, a level line at ``y``, a dot where both are given.

    With a ``radius`` it is the circle around the origin, and has neither.
    """

    x: float | None = None
    y: float | None = None
    radius: float | None = None
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """A chart as it is drawn; values that are not finite leave a gap, names and labels are shown literally.

    ``marks`` are laid over the series. None shows the legend where there are several of these. A ``square`` one is as
    wide as high, so that with equal limits a circle is round.
    """

    series: Sequence[Series]
    x: Axis
    y: Axis
    marks: Sequence[Mark] = ()
    height: int = 300
    legend: bool | None = None
    square: bool = False

    def has_legend(self) -> bool:
        """Return True if the names of the series stand above it."""
        return sum(line.listed for line in self.series) > 1 if self.legend is None else self.legend
