"""Curves over offsets (key minus query) or over distances, with the band they vary in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from viz.figures.palette import BLUE, GREY, ORANGE, plain, rgba

HUES = (BLUE, ORANGE, GREY)


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
) -> dict[str, Any]:
    """Draw one line for each curve, and a band as wide as its spread.

    Args:
        curves: name in the legend -> curve.
        x_title: what lies along the axis.
        y_title: what the height is.
        marks: places marked by an upright line.
        limits: lowest and highest value shown; None fits all.
        height: of the figure, in pixels.
    """
    data: list[dict[str, Any]] = []
    for (name, curve), hue in zip(curves.items(), HUES, strict=False):
        x, y = curve.x.tolist(), curve.y.detach().float()
        if curve.spread is not None:
            hidden: dict[str, Any] = {"type": "scatter", "mode": "lines", "x": x, "line": {"width": 0}}
            hidden |= {"hoverinfo": "skip", "showlegend": False, "legendgroup": name}
            data.append(hidden | {"y": (y - curve.spread).numpy()})
            data.append(hidden | {"y": (y + curve.spread).numpy(), "fill": "tonexty", "fillcolor": rgba(hue, 0.2)})
        data.append({
            "type": "scatter", "mode": "lines+markers" if len(x) <= 40 else "lines", "name": plain(name),
            "legendgroup": name, "x": x, "y": y.numpy(), "line": {"color": rgba(hue, 1), "width": 2},
            "marker": {"color": rgba(hue, 1), "size": 5}, "hovertemplate": "%{x}: %{y:.4f}<extra></extra>",
        })  # fmt: skip
    upright = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": rgba(GREY, 0.9), "dash": "dot"}}
    layout = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": len(curves) > 1,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {"title": {"text": x_title}, "automargin": True, "showgrid": False},
        "yaxis": {"title": {"text": y_title}, "automargin": True} | ({"range": list(limits)} if limits else {}),
        "shapes": [upright | {"x0": x, "x1": x} for x in marks],
    }
    return {"data": data, "layout": layout}
