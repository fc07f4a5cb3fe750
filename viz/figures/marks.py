"""What is laid over a matrix: a frame around one cell and its row, and cells that can be clicked."""

from collections.abc import Sequence
from typing import Any

from viz.figures.layout import Figure
from viz.figures.palette import GREY, ORANGE, plain, rgba


def frame_row(fig: Figure, row: int) -> Figure:
    """Frame a row, faintly."""
    n_columns = fig["data"][0]["z"].shape[1]
    return _with_shapes(fig, [_box(row, -0.5, n_columns - 0.5, {"color": rgba(GREY, 0.9), "width": 1})])


def frame_cell(fig: Figure, row: int, column: int) -> Figure:
    """Frame a cell, and its row."""
    cell = _box(row, column - 0.5, column + 0.5, {"color": rgba(ORANGE, 1), "width": 3})
    return _with_shapes(frame_row(fig, row), [cell])


def _box(row: int, left: float, right: float, line: dict[str, Any]) -> dict[str, Any]:
    edges = {"x0": left, "x1": right, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "layer": "above", "line": line} | edges


def _with_shapes(fig: Figure, shapes: list[dict[str, Any]]) -> Figure:
    return {"data": fig["data"], "layout": fig["layout"] | {"shapes": [*fig["layout"].get("shapes", []), *shapes]}}


def clickable(fig: Figure, hover: Sequence[Sequence[str]]) -> Figure:
    """Lay an invisible point over every cell: Plotly tells of clicks on points, not on a heat map's cells.

    A point's x is its column and y its row; wherever the pointer is, the nearest point answers with its sentence.

    Args:
        fig: a figure of :func:`~viz.figures.matrix.matrix`.
        hover: a sentence for each cell, shown literally.
    """
    rows, columns = len(hover), len(hover[0])
    unseen = {"marker": {"opacity": 0}}
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": [column for _ in range(rows) for column in range(columns)],
        "y": [row for row in range(rows) for _ in range(columns)],
        "customdata": [plain(sentence) for row in hover for sentence in row],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"opacity": 0, "size": 12, "color": rgba(GREY, 1)},
        "selected": unseen,
        "unselected": unseen,
        "showlegend": False,
    }
    layout = fig["layout"]
    ranges = {
        "hoverdistance": -1,
        "xaxis": layout["xaxis"] | {"range": [-0.5, columns - 0.5]},
        "yaxis": layout["yaxis"] | {"range": [rows - 0.5, -0.5], "autorange": False},
    }
    return {"data": [*fig["data"], points], "layout": layout | ranges}


def named_cells(fig: Figure) -> Figure:
    """Let the pointer tell a cell's row and column by their labels, where a sentence for each would be too many."""
    heat, *others = fig["data"]
    named = heat | {"hovertemplate": "%{y} → %{x}: %{z:.4f}<extra></extra>"}
    return {"data": [named, *others], "layout": fig["layout"]}


def few_ticks(fig: Figure, most: int) -> Figure:
    """Name at most so many columns; the others keep their places."""
    axis = fig["layout"]["xaxis"]
    step = -(-len(axis["tickvals"]) // most)
    kept = axis | {"tickvals": axis["tickvals"][::step], "ticktext": axis["ticktext"][::step]}
    return {"data": fig["data"], "layout": fig["layout"] | {"xaxis": kept}}


def no_gaps(fig: Figure) -> Figure:
    """Put the cells edge to edge: thin ones would be nothing but gap."""
    heat, *others = fig["data"]
    return {"data": [heat | {"xgap": 0, "ygap": 0}, *others], "layout": fig["layout"]}
