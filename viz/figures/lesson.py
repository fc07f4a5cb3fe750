"""A lesson as it goes: the paths of the heads' centres, and the loss; and lines over any axis."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from viz.figures.palette import BLUE, GREY, HEADS, ORANGE, plain, rgba

REACH = 3.2
BARE = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
}
SERIES = (BLUE, ORANGE, *HEADS[2:])


def centres(paths: Tensor, alpha: Tensor, *, x_title: str, y_title: str, head: str) -> dict[str, Any]:
    """Draw where the centres went, on the plane of shifts, with the nine cells of a 3 x 3 kernel as squares.

    Args:
        paths: (steps, H, 2), row and column; the last step is drawn as a disc as wide as the window (1/sqrt(2 alpha)).
        alpha: (H), at the last step.
        x_title: of the columns' axis.
        y_title: of the rows' axis.
        head: the word for a head.
    """
    traces, discs = [], []
    for h in range(paths.shape[1]):
        hue, rows, columns = HEADS[h % len(HEADS)], paths[:, h, 0], paths[:, h, 1]
        traces.append({
            "type": "scatter", "mode": "lines+markers+text", "name": f"{head} {h}", "showlegend": False,
            "x": columns.numpy(), "y": rows.numpy(), "line": {"color": rgba(hue, 0.8), "width": 1.5},
            "marker": {"color": rgba(hue, 1), "size": [0] * (len(paths) - 1) + [11]},
            "text": [""] * (len(paths) - 1) + [str(h)], "textposition": "top center",
            "hovertemplate": f"{plain(head)} {h}: (%{{y:.3f}}, %{{x:.3f}}), α = {float(alpha[h]):.3g}<extra></extra>",
        })  # fmt: skip
        spread, row, column = float((2 * alpha[h].clamp(min=0.02)).rsqrt()), float(rows[-1]), float(columns[-1])
        discs.append({
            "type": "circle", "x0": column - spread, "x1": column + spread, "y0": row - spread, "y1": row + spread,
            "fillcolor": rgba(hue, 0.1), "line": {"width": 0}, "layer": "below",
        })  # fmt: skip
    cells = [
        {
            "type": "rect", "x0": c - 0.5, "x1": c + 0.5, "y0": r - 0.5, "y1": r + 0.5,
            "line": {"color": rgba(GREY, 0.5), "width": 1},
        }
        for r in (-1, 0, 1) for c in (-1, 0, 1)
    ]  # fmt: skip
    axis = {"showgrid": False, "zeroline": False, "dtick": 1, "constrain": "domain", "automargin": True}
    return {
        "data": traces,
        "layout": BARE | {
            "height": 430, "shapes": discs + cells,
            "xaxis": axis | {"range": [-REACH, REACH], "title": {"text": x_title}},
            "yaxis": axis | {"range": [REACH, -REACH], "title": {"text": y_title}, "scaleanchor": "x"},
        },
    }  # fmt: skip


def lines(
    at: Sequence[float],
    series: Mapping[str, Tensor],
    *,
    at_title: str,
    value_title: str,
    log_values: bool = False,
    height: int = 280,
) -> dict[str, Any]:
    """Draw values over an axis; dashes tell series apart too.

    Args:
        at: where the values stand.
        series: name in the legend -> one value for each place.
        at_title: what the places are.
        value_title: what the values are.
        log_values: powers of ten on the values' axis.
        height: of the figure, in pixels.
    """
    traces = [
        {
            "type": "scatter", "mode": "lines", "name": plain(name), "x": list(at),
            "y": values.detach().float().numpy(),
            "line": {"color": rgba(SERIES[i % len(SERIES)], 1), "dash": ("solid", "dash", "dot")[i % 3], "width": 2},
            "hovertemplate": "%{x}: %{y:.4g}<extra></extra>",
        }
        for i, (name, values) in enumerate(series.items())
    ]  # fmt: skip
    scale: dict[str, Any] = {"type": "log", "dtick": 1, "exponentformat": "power"} if log_values else {}
    layout = BARE | {
        "height": height, "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {"title": {"text": at_title}, "automargin": True, "showgrid": False},
        "yaxis": {"title": {"text": value_title}, "automargin": True} | scale,
    }  # fmt: skip
    return {"data": traces, "layout": layout}
