"""Growth of costs with a size, both axes logarithmic, so that a power is a straight line; and loss over training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import series_style

STYLES = (0, 2, 1, 3, 4, 5)
"""Index in the palette of each style's hue and dash."""
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A series: its name in the legend, its values by size; ``points`` are dots (measured), else a line (computed).

    ``style`` picks hue, dash and symbol, so that a dot and its line look alike.
    """

    name: str
    values: Mapping[int, float]
    style: int = 0
    points: bool = False


def growth(
    lines: Sequence[Line],
    *,
    size_title: str,
    value_title: str,
    marks: Mapping[int, str] | None = None,
    height: int = 380,
    share: bool = False,
    letter: str = "n",
    in_bytes: bool = False,
) -> LineChart:
    """Draw lines and points over a logarithmic size; upright lines mark some sizes, with what is said there.

    Values that are a ``share`` of 1 have an even axis. ``letter`` is that of the size, where a point is read off.
    """
    sizes = sorted({n for line in lines for n in line.values})
    return LineChart(
        series=[_series(line, letter) for line in lines],
        # Powers of ten, or, where there would be two of them at most, the sizes themselves.
        x=Axis(size_title, log=True, grid=True, ticks=None if sizes[-1] > 200 * sizes[0] else sizes),
        y=Axis(value_title, grid=True, log=not share, limits=(0, 1.02) if share else None, in_bytes=in_bytes),
        marks=[Mark(x=at, label=text) for at, text in (marks or {}).items()],
        height=height,
        legend=True,
    )


def _series(line: Line, letter: str) -> Series:
    style = line.style % len(STYLES)
    colour, dash = series_style(STYLES[style])
    return Series(
        name=line.name,
        x=list(line.values),
        y=[float(value) for value in line.values.values()],
        colour=colour,
        dash=None if line.points else dash,
        marker=9 if line.points else 0,
        symbol=SYMBOLS[style],
        says=f"{letter} = {{x}}: {{y}}",
    )


def learning(
    steps: Sequence[int],
    runs: Mapping[str, Sequence[Sequence[float]]],
    *,
    x_title: str,
    y_title: str,
    top: float | None = None,
) -> LineChart:
    """Draw the median of several trainings, over a band from the lowest to the highest of them."""
    series = []
    for i, (name, curves) in enumerate(runs.items()):
        low, middle, high = ([of(at) for at in zip(*curves, strict=True)] for of in (min, median, max))
        colour, dash = series_style(i)
        series.append(Series(name=name, x=list(steps), y=middle, colour=colour, dash=dash, low=low, high=high))
    value_axis = Axis(y_title, grid=True, from_zero=True, limits=(0, top) if top else None)
    return LineChart(series=series, x=Axis(x_title), y=value_axis, height=280)
