"""Pictures side by side: what goes into a layer, what comes out, and where two layers differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from viz.figures.layout import LETTERS, base_layout
from viz.figures.palette import GREY, plain, rgba, scores_scale

GREYS = [[0.0, "#000"], [1.0, "#fff"]]
FRAME = {
    "showticklabels": False,
    "showgrid": False,
    "zeroline": False,
    "constrain": "domain",
    "showline": True,
    "mirror": True,
    "linecolor": rgba(GREY, 0.5),
}
"""An axis of a picture: nothing but its edge."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One channel (rows, columns), in greys from ``low`` to ``high``, or coloured around 0 if ``signed``.

    ``note`` stands below the title.
    """

    title: str
    values: Tensor
    low: float
    high: float
    signed: bool = False
    note: str = ""


def pictures(panels: Sequence[Panel], *, across: int = 4) -> dict[str, Any]:
    """Draw pictures of the same size in rows of ``across``; pixels are square, row 0 on top; pointing reads values."""
    down = -(-len(panels) // across)
    traces, titles = [], []
    axes: dict[str, Any] = {}
    for i, panel in enumerate(panels):
        number = "" if i == 0 else str(i + 1)
        left, upper = i % across / across, 1 - (i // across) / down
        traces.append(_trace(panel, number))
        titles.append(_title(panel, left + 0.5 / across, upper))
        axes[f"xaxis{number}"] = FRAME | {
            "domain": [left + 0.01, left + 1 / across - 0.01],
            "anchor": f"y{number}",
        }
        axes[f"yaxis{number}"] = FRAME | {
            "domain": [upper - 1 / down + 0.02, upper - 0.16 / down],
            "anchor": f"x{number}",
            "scaleanchor": f"x{number}",
            "autorange": "reversed",
        }
    return {"data": traces, "layout": base_layout(240 * down, annotations=titles, **axes)}


def _trace(panel: Panel, number: str) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": panel.values.detach().float().numpy(),
        "zmin": panel.low,
        "zmax": panel.high,
        "colorscale": scores_scale() if panel.signed else GREYS,
        "showscale": False,
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "hovertemplate": "(%{y}, %{x}): %{z:.4g}<extra></extra>",
    }


def _title(panel: Panel, middle: float, upper: float) -> dict[str, Any]:
    """A panel's title and note, above it."""
    return {
        "text": "<br>".join(map(plain, filter(None, (panel.title, panel.note)))),
        "x": middle,
        "y": upper,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "xanchor": "center",
        "yanchor": "top",
        "font": LETTERS,
    }


def shared_scale(*values: Tensor) -> tuple[float, float]:
    """The lowest and highest of all, so that pictures can be compared; a little apart where all are equal."""
    low, high = min(float(picture.min()) for picture in values), max(float(picture.max()) for picture in values)
    return low, high if high > low else low + 1e-9
