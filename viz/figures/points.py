"""Statistics of a block's numbers, for each token at each point: three maps with the same rows and columns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from viz.figures.layout import LETTERS, UPWARDS, axis, base_layout, colour_bar
from viz.figures.palette import INK, plain, scores_scale, weights_scale
from viz.figures.plotly_figure import plotly_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MANY, GAP = 48, 1
"""Beyond so many columns their names would overlap, and only some are written; pixels between fewer."""
ROW, BETWEEN, AROUND, TITLE = 19, 34, 110, 26
"""Heights in pixels: of a point's row, between two maps, of what is written above and below, and above alone."""


def points_map(
    values: Mapping[str, Tensor],
    points: Sequence[str],
    tokens: Sequence[str],
    *,
    signed: Sequence[str],
    hover: str,
    column_title: str,
    marked_row: int | None = None,
) -> "Figure":
    """Draw one map for each quantity, under each other, points from the top in order of computation.

    Args:
        values: name of the quantity -> (points, tokens).
        points: what stands beside each row.
        tokens: what stands under each column, shown literally.
        signed: the quantities that may be negative; they are coloured around 0, the others from 0 on.
        hover: a sentence with {what}, {point}, {token} and {value}.
        column_title: what a column is, in words.
        marked_row: the row to frame in every map.
    """
    n, height = len(values), ROW * len(points)
    total = n * height + (n - 1) * BETWEEN
    traces, frames, titles = [], [], []
    axes: dict[str, Any] = {}
    for at, (name, cells) in enumerate(values.items()):
        number = "" if at == 0 else str(at + 1)
        top = 1 - at * (height + BETWEEN) / total
        bottom = max(0.0, top - height / total)
        texts = _sentences(hover, name, cells, points, tokens)
        traces.append(_map(name, cells, name in signed, texts, axis=f"y{number}", top=top, share=height / total))
        titles.append(_title(name, top))
        axes[f"yaxis{number}"] = _rows(points, [bottom, top])
        if marked_row is not None:
            frames.append(_frame(f"y{number}", marked_row))
    columns = _ticks(tokens) | {"anchor": f"y{number}", "tickangle": UPWARDS, "zeroline": False}
    layout = base_layout(total + AROUND, shapes=frames, annotations=titles, xaxis=axis(column_title, **columns), **axes)
    return plotly_figure(traces, layout | {"margin": layout["margin"] | {"t": TITLE}})


def _ticks(labels: Sequence[str], most: int = MANY) -> dict[str, Any]:
    """An axis's labels, shown literally; of many, some."""
    indices = range(0, len(labels), -(-len(labels) // most) or 1)
    return {"tickmode": "array", "tickvals": list(indices), "ticktext": [plain(labels[i]) for i in indices]}


def _rows(points: Sequence[str], domain: list[float]) -> dict[str, Any]:
    """The axis of one map's rows."""
    names = _ticks(points, len(points))
    return axis("", domain=domain, autorange="reversed", zeroline=False, fixedrange=True, **names)


def _title(name: str, top: float) -> dict[str, Any]:
    """The name of a quantity, above its map."""
    return {
        "text": f"<b>{plain(name)}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": LETTERS,
    }


def _frame(axis: str, row: int) -> dict[str, Any]:
    """A frame around a row of one map."""
    edges = {"xref": "paper", "yref": axis, "x0": 0, "x1": 1, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": {"color": INK, "width": 2}, "fillcolor": "rgba(0,0,0,0)"} | edges


def _sentences(hover: str, name: str, cells: Tensor, points: Sequence[str], tokens: Sequence[str]) -> list[list[str]]:
    return [
        [
            plain(hover.format(what=name, point=point, token=token, value=f"{value:.4g}"))
            for token, value in zip(tokens, row, strict=True)
        ]
        for point, row in zip(points, cells.tolist(), strict=True)
    ]


def _map(
    name: str, cells: Tensor, signed: bool, texts: list[list[str]], *, axis: str, top: float, share: float
) -> dict[str, Any]:
    """One map and its scale; ``top`` is where it begins and ``share`` what it takes of the figure's height."""
    limit = float(cells.abs().max()) or 1.0
    return {
        "type": "heatmap",
        "name": plain(name),
        "z": cells.float().tolist(),
        "yaxis": axis,
        "zmin": -limit if signed else 0.0,
        "zmax": limit,
        "colorscale": scores_scale() if signed else weights_scale(),
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra></extra>",
        "ygap": GAP,
        "xgap": GAP if cells.shape[1] <= MANY else 0,
        "colorbar": colour_bar(len=share, y=top, yanchor="top", nticks=3),
    }
