"""Curves: how something grows with a size."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from viz.figures.layout import axis
from viz.figures.line_chart import Series, line_chart
from viz.figures.palette import BLUE, DASHES, HEADS, ORANGE

HUES = (ORANGE, BLUE, *HEADS[2:])
"""What goes wrong comes first, in orange."""


def curves(
    sizes: Sequence[int],
    series: Mapping[str, Tensor],
    *,
    size_title: str,
    value_title: str,
    log_values: bool = False,
    height: int = 280,
) -> dict[str, Any]:
    """Draw one curve for each series, with a point for each size.

    Args:
        sizes: what lies along the axis, which is logarithmic.
        series: name in the legend -> one value for each size.
        size_title: what the sizes are.
        value_title: what the values are, with their unit.
        log_values: a logarithmic axis for the values too; else it goes from 0 to 1.
        height: of the figure, in pixels.
    """
    drawn = [
        Series(
            name=name,
            x=list(sizes),
            y=values.detach().float().numpy(),
            colour=HUES[i % len(HUES)],
            dash=DASHES[i % len(DASHES)],
            marker=6,
            symbol=("circle", "square")[i % 2],
        )
        for i, (name, values) in enumerate(series.items())
    ]
    value_axis = axis(value_title, grid=True, log=log_values, limits=None if log_values else (0, 1.02))
    size_axis = axis(size_title, log=True, tickvals=list(sizes))
    return line_chart(drawn, x=size_axis, y=value_axis, height=height)
