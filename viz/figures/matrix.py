"""One matrix as a heat map, with its numbers where they fit."""

from collections.abc import Sequence
from typing import Any, Literal

from torch import Tensor

from viz.figures.layout import SMALL, UPWARDS, axis, base_layout
from viz.figures.palette import INK, plain, scores_scale, weights_scale

Kind = Literal["weights", "signed", "sizes"]

CELL, MARGIN, GAP = 26, 90, 1
MANY = 48
"""Beyond this many rows or columns labels would overlap, and only some are written."""


def matrix(
    values: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    kind: Kind,
    row_title: str,
    column_title: str,
    hover: Sequence[Sequence[str]] | None = None,
    numbers: bool = False,
    limit: float | None = None,
) -> dict[str, Any]:
    """Draw a matrix with its first row on top; -inf cells stay empty.

    Args:
        values: (rows, columns).
        rows: a label for each row, shown literally.
        columns: a label for each column, shown literally.
        kind: "weights" is 0 to 1; "signed" is coloured around 0; "sizes" goes from 0 to the largest.
        row_title: what a row is, in words.
        column_title: what a column is, in words.
        hover: a sentence for each cell, shown literally; None shows the value alone.
        numbers: print each value into its cell.
        limit: the largest absolute value of the scale; None takes this matrix's own.
    """
    trace = _heatmap(values.detach().float().cpu(), kind, limit)
    if hover:
        texts = [[plain(sentence) for sentence in row] for row in hover]
        trace |= {"customdata": texts, "hovertemplate": "%{customdata}<extra></extra>"}
    if numbers:
        trace |= {"texttemplate": "%{z:.2f}", "textfont": {"color": INK}}  # as large as fits into a cell
    return {"data": [trace], "layout": _layout(rows, columns, row_title, column_title)}


def _heatmap(cells: Tensor, kind: Kind, limit: float | None) -> dict[str, Any]:
    finite = cells[cells.isfinite()]
    top = 1.0 if kind == "weights" else (limit or (float(finite.abs().max()) if finite.numel() else 1.0) or 1.0)
    return {
        "type": "heatmap",
        "z": cells.where(cells.isfinite(), float("nan")).numpy(),
        "zmin": -top if kind == "signed" else 0.0,
        "zmax": top,
        "colorscale": scores_scale() if kind == "signed" else weights_scale(),
        "hoverongaps": False,
        "hovertemplate": "%{z:.4f}<extra></extra>",
        "xgap": GAP if cells.shape[1] <= MANY else 0,  # many cells would be nothing but gap
        "ygap": GAP if cells.shape[0] <= MANY else 0,
        "colorbar": {"thickness": 10, "len": 0.9, "tickfont": {"size": SMALL}},
    }


def ticks(labels: Sequence[str]) -> dict[str, Any]:
    """An axis's labels, shown literally; of many, some."""
    step = -(-len(labels) // MANY)
    shown = range(0, len(labels), step)
    return {"tickmode": "array", "tickvals": list(shown), "ticktext": [plain(labels[i]) for i in shown]}


def _layout(rows: Sequence[str], columns: Sequence[str], row_title: str, column_title: str) -> dict[str, Any]:
    cells: dict[str, Any] = {"zeroline": False, "fixedrange": False}
    return base_layout(
        max(180, min(720, CELL * len(rows) + 2 * MARGIN)),
        xaxis=axis(column_title, side="top", tickangle=UPWARDS, **cells, **ticks(columns)),
        yaxis=axis(row_title, autorange="reversed", **cells, **ticks(rows)),
    )
