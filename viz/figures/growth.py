"""How costs grow: lines and measured points over a size, both axes logarithmic, so that a power is a straight line."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viz.figures.palette import BLUE, GREY, ORANGE, plain, rgba

HUES = (BLUE, (20, 160, 140), ORANGE, (200, 80, 160), (120, 100, 220), (150, 150, 30))
DASHES = ("solid", "dot", "dash", "longdash", "dashdot", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A series: its name in the legend, its values by size; ``points`` are dots (measured), else a line (computed).

    ``style`` picks hue, dash and symbol, so that a dot and its line look alike; ``listed``: it stands in the legend.
    """

    name: str
    values: Mapping[int, float]
    style: int = 0
    points: bool = False
    unit: str = ""
    listed: bool = True


def _trace(line: Line) -> dict[str, Any]:
    hue = rgba(HUES[line.style % len(HUES)], 1)
    trace = {
        "type": "scatter", "name": plain(line.name), "showlegend": line.listed, "x": list(line.values),
        "y": [float(y) for y in line.values.values()],
        "hovertemplate": f"{plain(line.name)}<br>n = %{{x:,}}: %{{y:.4~g}}{plain(line.unit)}<extra></extra>",
    }  # fmt: skip
    if line.points:
        marker = {"color": hue, "size": 9, "symbol": SYMBOLS[line.style % len(SYMBOLS)]}
        return trace | {"mode": "markers", "marker": marker}
    return trace | {"mode": "lines", "line": {"color": hue, "width": 2, "dash": DASHES[line.style % len(DASHES)]}}


def _ticks(sizes: Sequence[int]) -> dict[str, Any]:
    """Powers of ten, or, where there would be two of them at most, the sizes themselves."""
    return (
        {"dtick": 1} if sizes[-1] > 200 * sizes[0] else {"tickvals": list(sizes), "ticktext": [f"{n:,}" for n in sizes]}
    )


def growth(
    lines: Sequence[Line], *, size_title: str, value_title: str, marks: Mapping[int, str] | None = None,
    height: int = 380, share: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Draw lines and points over a logarithmic size.

    Args:
        lines: what is drawn.
        size_title: what the sizes are.
        value_title: what the values are, with their unit.
        marks: sizes marked by an upright line, and what is said there.
        height: of the figure, in pixels.
        share: the values are shares from 0 to 1, on an even axis.
    """
    upright = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": rgba(GREY, 0.9), "dash": "dot"}}
    says = {"yref": "paper", "y": 1, "yanchor": "top", "showarrow": False}
    marks = marks or {}
    sizes = sorted({n for line in lines for n in line.values})
    middle = (sizes[0] * sizes[-1]) ** 0.5
    axis = {"type": "log", "automargin": True, "exponentformat": "power", "gridcolor": rgba(GREY, 0.2)}
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "shapes": [upright | {"x0": at, "x1": at} for at in marks],
        "annotations": [
            says
            | {"x": math.log10(at), "text": plain(text), "yshift": -16 * place}
            | {"xanchor": "right" if at > middle else "left"}
            for place, (at, text) in enumerate(marks.items())
        ],
        "xaxis": axis | _ticks(sizes) | {"title": {"text": size_title}},
        "yaxis": (axis if not share else {"range": [0, 1.02], "automargin": True, "gridcolor": rgba(GREY, 0.2)})
        | {"title": {"text": value_title}},
    }
    return {"data": [_trace(line) for line in lines], "layout": layout}
