"""Vectors on the plane of one pair of dimensions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viz.figures.layout import axis, base_layout
from viz.figures.palette import GREY, plain, rgba


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """A vector from the origin; a faint one is where it was before."""

    name: str
    tip: tuple[float, float]
    hue: tuple[int, int, int]
    faint: bool = False


def plane(arrows: Sequence[Arrow], *, x_title: str, y_title: str, height: int = 380) -> dict[str, Any]:
    """Draw vectors with equal axes, and the circle each of them turns on."""
    lengths = [math.hypot(*arrow.tip) for arrow in arrows]
    reach = 1.15 * max(lengths) or 1.0
    circles = [
        {"type": "circle", "x0": -r, "x1": r, "y0": -r, "y1": r, "line": {"color": rgba(GREY, 0.4), "width": 1}}
        for r in {round(length, 6) for length in lengths}
    ]
    equal: dict[str, Any] = {"limits": (-reach, reach), "zeroline": True, "constrain": "domain"}
    layout = base_layout(
        height,
        xaxis=axis(x_title, **equal),
        yaxis=axis(y_title, scaleanchor="x", **equal),
        shapes=circles,
    )
    return {"data": [_trace(arrow) for arrow in arrows], "layout": layout}


def _trace(arrow: Arrow) -> dict[str, Any]:
    colour = rgba(arrow.hue, 0.45 if arrow.faint else 1)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(arrow.name),
        "x": [0, arrow.tip[0]],
        "y": [0, arrow.tip[1]],
        "line": {"color": colour, "dash": "dot" if arrow.faint else "solid", "width": 2 if arrow.faint else 4},
        "marker": {"color": colour, "size": [0, 9]},
        "hovertemplate": "(%{x:.4f}, %{y:.4f})<extra></extra>",
    }
