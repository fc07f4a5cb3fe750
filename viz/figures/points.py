"""What the numbers of a block are like, for each token at each point: three maps with the same rows and columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from viz.figures.matrix import GAP, MANY, ticks
from viz.figures.palette import INK, plain, scores_scale, weights_scale

ROW, BETWEEN, AROUND = 19, 34, 110
"""Heights in pixels: of a point's row, between two maps, and of what is written above and below."""


def points_map(
    values: Mapping[str, Tensor],
    points: Sequence[str],
    tokens: Sequence[str],
    *,
    signed: Sequence[str],
    hover: str,
    column_title: str,
    marked: int | None = None,
) -> dict[str, Any]:
    """Draw one map for each quantity, under each other, points from the top in order of computation.

    Args:
        values: name of the quantity -> (points, tokens).
        points: what stands beside each row.
        tokens: what stands under each column, shown literally.
        signed: the quantities that may be negative; they are coloured around 0, the others from 0 on.
        hover: a sentence with {what}, {point}, {token} and {value}.
        column_title: what a column is, in words.
        marked: the row to frame in every map.
    """
    n, height = len(values), ROW * len(points)
    whole = n * height + (n - 1) * BETWEEN
    traces, shapes, notes, axes = [], [], [], {}
    for at, (name, cells) in enumerate(values.items()):
        top = 1 - at * (height + BETWEEN) / whole
        key = "" if at == 0 else str(at + 1)
        traces.append(
            _map(cells, name in signed, f"y{key}", _sentences(hover, name, cells, points, tokens), top, whole)
        )
        axes[f"yaxis{key}"] = {
            "domain": [max(0.0, top - height / whole), top], "autorange": "reversed", "showgrid": False,
            "zeroline": False, "tickmode": "array", "tickvals": list(range(len(points))),
            "ticktext": [plain(point) for point in points], "tickfont": {"size": 11}, "automargin": True,
            "fixedrange": True,
        }  # fmt: skip
        notes.append({
            "text": f"<b>{plain(name)}</b>", "xref": "paper", "yref": "paper", "x": 0, "y": top, "xanchor": "left",
            "yanchor": "bottom", "showarrow": False,
        })  # fmt: skip
        if marked is not None:
            shapes.append({
                "type": "rect", "xref": "paper", "yref": f"y{key}", "x0": 0, "x1": 1, "y0": marked - 0.5,
                "y1": marked + 0.5, "line": {"color": INK, "width": 2}, "fillcolor": "rgba(0,0,0,0)",
            })  # fmt: skip
    last = "y" if n == 1 else f"y{n}"
    layout = {
        "height": whole + AROUND, "margin": {"l": 10, "r": 10, "t": 26, "b": 10}, "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)", "shapes": shapes, "annotations": notes,
        "xaxis": ticks(tokens) | {
            "title": {"text": column_title}, "anchor": last, "tickangle": -60, "showgrid": False, "zeroline": False,
            "automargin": True,
        },
    }  # fmt: skip
    return {"data": traces, "layout": layout | axes}


def _sentences(hover: str, name: str, cells: Tensor, points: Sequence[str], tokens: Sequence[str]) -> list[list[str]]:
    return [
        [
            plain(hover.format(what=name, point=point, token=token, value=f"{value:.4g}"))
            for token, value in zip(tokens, row, strict=True)
        ]
        for point, row in zip(points, cells.tolist(), strict=True)
    ]


def _map(cells: Tensor, signed: bool, axis: str, texts: list[list[str]], top: float, whole: int) -> dict[str, Any]:
    limit = float(cells.abs().max()) or 1.0
    return {
        "type": "heatmap", "z": cells.float().numpy(), "yaxis": axis, "zmin": -limit if signed else 0.0,
        "zmax": limit, "colorscale": scores_scale() if signed else weights_scale(), "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>", "ygap": GAP, "xgap": GAP if cells.shape[1] <= MANY else 0,
        "colorbar": {
            "thickness": 10, "len": len(cells) * ROW / whole, "y": top, "yanchor": "top", "tickfont": {"size": 10},
            "nticks": 3,
        },
    }  # fmt: skip
