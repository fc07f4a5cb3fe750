"""Curves over anything: a line for each series, which differ in hue and in dash."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from viz.figures.line_chart import Axis, LineChart, Series
from viz.figures.palette import DASHES, HEADS

DOT = 6
SYMBOLS = ("circle", "square")


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
    """Draw one curve for each series.

    Args:
        at: where the values stand.
        series: name in the legend -> one value for each place.
        x: the axis of the places.
        y: the axis of the values.
        hues: the colours of the series, in order.
        dots: with a dot at each place.
        height: of the figure, in pixels.
    """
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
