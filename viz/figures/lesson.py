"""A training as it goes: the paths of the heads' centres."""

from typing import TYPE_CHECKING, Any

from torch import Tensor

from viz.figures.layout import axis, base_layout
from viz.figures.palette import GREY, HEADS, plain, rgba
from viz.figures.plotly_figure import plotly_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

REACH = 3.2


def centres(paths: Tensor, alpha: Tensor, *, x_title: str, y_title: str, head: str) -> "Figure":
    """Draw where the centres went, on the plane of shifts, with the nine cells of a 3 x 3 kernel as squares.

    ``paths`` (steps, H, 2) are rows and columns; the last one is a disc as wide as the window, 1/sqrt(2 alpha).
    """
    heads = range(paths.shape[1])
    shifts: dict[str, Any] = {"zeroline": False, "dtick": 1, "constrain": "domain"}
    layout = base_layout(
        340,
        shapes=[*(_window(paths[-1, h], alpha[h], HEADS[h % len(HEADS)]) for h in heads), *_kernel_cells()],
        xaxis=axis(x_title, limits=(-REACH, REACH), **shifts),
        yaxis=axis(y_title, limits=(REACH, -REACH), scaleanchor="x", **shifts),
    )
    return plotly_figure([_path(f"{head} {h}", h, paths[:, h], float(alpha[h])) for h in heads], layout)


def _path(name: str, h: int, path: Tensor, alpha: float) -> dict[str, Any]:
    """A line to where the centre is now, which is named."""
    hue, before = HEADS[h % len(HEADS)], len(path) - 1
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "name": plain(name),
        "showlegend": False,
        "x": path[:, 1].tolist(),
        "y": path[:, 0].tolist(),
        "line": {"color": rgba(hue, 0.8), "width": 1.5},
        "marker": {"color": rgba(hue, 1), "size": [0] * before + [11]},
        "text": [""] * before + [str(h)],
        "textposition": "top center",
        "hovertemplate": f"{plain(name)}: (%{{y:.3f}}, %{{x:.3f}}), α = {alpha:.3g}<extra></extra>",
    }


def _window(centre: Tensor, alpha: Tensor, hue: tuple[int, int, int]) -> dict[str, Any]:
    """A disc as wide as a head's window."""
    row, column = centre.tolist()
    spread = float((2 * alpha.clamp(min=0.02)).rsqrt())
    edges = {"x0": column - spread, "x1": column + spread, "y0": row - spread, "y1": row + spread}
    return {"type": "circle", "fillcolor": rgba(hue, 0.1), "line": {"width": 0}, "layer": "below"} | edges


def _kernel_cells() -> list[dict[str, Any]]:
    """The nine squares of a 3 x 3 kernel."""
    square = {"type": "rect", "line": {"color": rgba(GREY, 0.5), "width": 1}}
    places = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)]
    return [square | {"x0": c - 0.5, "x1": c + 0.5, "y0": r - 0.5, "y1": r + 0.5} for r, c in places]
