"""One matrix as a heat map, with its numbers where they fit. All maps of figures look like this one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from viz.figures.blocks import Blocks
from viz.figures.layout import UPWARDS, Figure, axis, base_layout, colour_bar
from viz.figures.marks import cell_frame, letter_in_cell, points_to_click, row_frame
from viz.figures.palette import INK, PRINTED, plain, scores_scale, weights_scale

Kind = Literal["weights", "signed", "sizes"]

CELL, LINE, GAP = 26, 14, 1
"""Pixels: of a row, of a row no higher than its label, between cells."""
LOWEST, TALLEST, TALLEST_BESIDE = 180, 720, 520
"""Pixels: heights of a matrix, and of one that has others beside it or is low."""
ABOVE_AND_BELOW, NAMES_ABOVE = 180, 150
"""Pixels: what is written above the cells and below them, and the most that the names above them take."""
MANY = 48
"""Beyond this many rows or columns labels would overlap, and only some are written."""
NUMBERED = 12
"""Numbers of columns written across the page: as many as have room on a phone."""


@dataclass(frozen=True)
class Axis:
    """One side of a matrix: a label for each row or column, shown literally, and what they are, in words.

    At ``most`` so many labels are written; the others keep their places.
    """

    labels: Sequence[str]
    title: str
    most: int = MANY


def numbered(n: int, title: str, *, most: int = NUMBERED) -> Axis:
    """Places that have no names: the dimensions of a vector."""
    return Axis([str(i) for i in range(n)], title, most)


def matrix(
    values: Tensor,
    rows: Axis,
    columns: Axis,
    *,
    kind: Kind,
    limit: float | None = None,
    numbers: bool = False,
    hover: Sequence[Sequence[str]] | None = None,
    clicks: bool = False,
    framed: tuple[int, int | None] | None = None,
    letters: Mapping[tuple[int, int], str] | None = None,
    blocks: Blocks | None = None,
    beside: int = 1,
    low: bool = False,
    scale: bool = True,
) -> Figure:
    """Draw a matrix with its first row on top; -inf cells stay empty.

    Args:
        values: (rows, columns).
        rows: what stands at the left.
        columns: what stands on top.
        kind: "weights" is 0 to 1; "signed" is coloured around 0; "sizes" goes from 0 to the largest.
        limit: the largest absolute value of the colours; None takes this matrix's own.
        numbers: print each value into its cell.
        hover: a sentence for each cell, shown literally; None shows its row, its column and its value.
        clicks: every cell can be clicked; it needs its sentence in ``hover``.
        framed: a row to frame, and a column whose cell in that row is framed too, or None.
        letters: cells to frame, each (row, column) with what is written into it.
        blocks: the heads' blocks to frame.
        beside: pictures in this row of the page, this one counted.
        low: rows are no higher than their labels.
        scale: the colours' scale stands at the right.
    """
    n_rows, n_columns = values.shape
    heat = _heatmap(values.detach().float().cpu(), kind, limit) | _gaps(n_rows, beside * n_columns)
    heat |= {"colorbar": colour_bar()} if scale else {"showscale": False}
    if hover and not clicks:
        heat |= {"customdata": [[plain(sentence) for sentence in row] for row in hover]}
        heat |= {"hovertemplate": "%{customdata}<extra></extra>"}
    if numbers:
        heat |= {"texttemplate": "%{z:.2f}", "textfont": {"color": INK}}  # as large as fits into a cell
        heat |= {"colorscale": _colours(kind, PRINTED)}
    layout = _layout(rows, columns, beside, low=low) | _marks(framed, n_columns, blocks, letters or {})
    if hover and clicks:
        return {"data": [heat, points_to_click(hover)], "layout": _around_points(layout, n_rows, n_columns)}
    return {"data": [heat], "layout": layout}


def _heatmap(cells: Tensor, kind: Kind, limit: float | None) -> dict[str, Any]:
    finite = cells[cells.isfinite()]
    top = 1.0 if kind == "weights" else (limit or (float(finite.abs().max()) if finite.numel() else 1.0) or 1.0)
    return {
        "type": "heatmap",
        "z": cells.where(cells.isfinite(), float("nan")).numpy(),
        "zmin": -top if kind == "signed" else 0.0,
        "zmax": top,
        "colorscale": _colours(kind),
        "hoverongaps": False,
        "hovertemplate": "%{y} → %{x}: %{z:.4f}<extra></extra>",
    }


def _colours(kind: Kind, most: float = 1.0) -> list[list[float | str]]:
    return scores_scale(most) if kind == "signed" else weights_scale(most)


def _gaps(rows: int, columns: int) -> dict[str, int]:
    """What is between cells; many of them would be nothing but gap."""
    return {"xgap": GAP if columns <= MANY else 0, "ygap": GAP if rows <= MANY else 0}


def ticks(labels: Sequence[str], most: int = MANY) -> dict[str, Any]:
    """An axis's labels, shown literally; of many, some."""
    shown = range(0, len(labels), -(-len(labels) // most) or 1)
    return {"tickmode": "array", "tickvals": list(shown), "ticktext": [plain(labels[i]) for i in shown]}


def _layout(rows: Axis, columns: Axis, beside: int, *, low: bool) -> dict[str, Any]:
    """A picture that shares its row of the page with others names fewer columns, and is not taller than wide."""
    tallest = TALLEST_BESIDE if low or beside > 1 else TALLEST
    height = max(LOWEST, min(tallest, (LINE if low else CELL) * len(rows.labels) + ABOVE_AND_BELOW))
    row_ticks = ticks(rows.labels, min(rows.most, (height - NAMES_ABOVE) // LINE))
    column_ticks = ticks(columns.labels, max(1, columns.most // beside))
    cells: dict[str, Any] = {"zeroline": False, "fixedrange": False}
    return base_layout(
        height,
        xaxis=axis(columns.title, side="top", tickangle=UPWARDS, **cells, **column_ticks),
        yaxis=axis(rows.title, autorange="reversed", **cells, **row_ticks),
    )


def _marks(
    framed: tuple[int, int | None] | None,
    n_columns: int,
    blocks: Blocks | None,
    letters: Mapping[tuple[int, int], str],
) -> dict[str, Any]:
    """The shapes and annotations laid over the cells."""
    shapes, names = (blocks.frames(), blocks.names()) if blocks else ([], [])
    if framed is not None:
        row, column = framed
        shapes += [row_frame(row, n_columns), *([] if column is None else [cell_frame(row, column)])]
    shapes += [cell_frame(*cell) for cell in letters]
    names += [letter_in_cell(*cell, letter) for cell, letter in letters.items()]
    return {name: drawn for name, drawn in (("shapes", shapes), ("annotations", names)) if drawn}


def _around_points(layout: dict[str, Any], n_rows: int, n_columns: int) -> dict[str, Any]:
    """Axes that points in the outermost cells do not widen, nor turn the first row down."""
    return layout | {
        "hoverdistance": -1,
        "xaxis": layout["xaxis"] | {"range": [-0.5, n_columns - 0.5]},
        "yaxis": layout["yaxis"] | {"range": [n_rows - 0.5, -0.5], "autorange": False},
    }
