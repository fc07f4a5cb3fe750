"""Pictures side by side: what goes into a layer, what comes out, and where two layers differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from viz.figures.palette import GREY, plain, rgba, scores_scale

GREYS = [[0.0, "#000"], [1.0, "#fff"]]


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
    traces, notes = [], []
    layout: dict[str, Any] = {}
    down = -(-len(panels) // across)
    for i, panel in enumerate(panels):
        number = "" if i == 0 else str(i + 1)
        left, upper = i % across / across, 1 - (i // across) / down
        traces.append({
            "type": "heatmap", "z": panel.values.detach().float().numpy(), "zmin": panel.low, "zmax": panel.high,
            "colorscale": scores_scale() if panel.signed else GREYS, "showscale": False,
            "xaxis": f"x{number}", "yaxis": f"y{number}",
            "hovertemplate": "(%{y}, %{x}): %{z:.4g}<extra></extra>",
        })  # fmt: skip
        bare = {
            "showticklabels": False, "showgrid": False, "zeroline": False, "constrain": "domain",
            "showline": True, "mirror": True, "linecolor": rgba(GREY, 0.5),
        }  # fmt: skip
        layout[f"xaxis{number}"] = bare | {"domain": [left + 0.01, left + 1 / across - 0.01], "anchor": f"y{number}"}
        layout[f"yaxis{number}"] = bare | {
            "domain": [upper - 1 / down + 0.02, upper - 0.16 / down], "anchor": f"x{number}",
            "scaleanchor": f"x{number}", "autorange": "reversed",
        }  # fmt: skip
        notes.append({
            "text": "<br>".join(map(plain, filter(None, (panel.title, panel.note)))),
            "x": left + 0.5 / across, "y": upper, "xref": "paper", "yref": "paper",
            "showarrow": False, "xanchor": "center", "yanchor": "top", "font": {"size": 12},
        })  # fmt: skip
    layout |= {
        "height": 240 * down, "margin": {"l": 5, "r": 5, "t": 5, "b": 5}, "annotations": notes,
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def shared_scale(*values: Tensor) -> tuple[float, float]:
    """The lowest and highest of all, so that pictures can be compared; a little apart where all are equal."""
    low, high = min(float(each.min()) for each in values), max(float(each.max()) for each in values)
    return low, high if high > low else low + 1e-9
