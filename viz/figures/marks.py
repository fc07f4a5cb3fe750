"""What is laid over a matrix: a frame around a row and one of its cells, and points that can be clicked."""

from collections.abc import Sequence
from typing import Any

from viz.figures.layout import LETTERS
from viz.figures.palette import GREY, ORANGE, plain, rgba


def row_frame(row: int, n_columns: int) -> dict[str, Any]:
    """A faint frame around a row."""
    return _box(row, -0.5, n_columns - 0.5, {"color": rgba(GREY, 0.9), "width": 1})


def cell_frame(row: int, column: int) -> dict[str, Any]:
    """A frame around a cell."""
    return _box(row, column - 0.5, column + 0.5, {"color": rgba(ORANGE, 1), "width": 3})


def letter_in_cell(row: int, column: int, letter: str) -> dict[str, Any]:
    """A letter, shown literally, in the middle of a cell, as an annotation."""
    return {"x": column, "y": row, "text": f"<b>{plain(letter)}</b>", "showarrow": False, "font": LETTERS}


def _box(row: int, left: float, right: float, line: dict[str, Any]) -> dict[str, Any]:
    edges = {"x0": left, "x1": right, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "layer": "above", "line": line} | edges


def points_to_click(hover: Sequence[Sequence[str]]) -> dict[str, Any]:
    """An invisible point over every cell: Plotly tells of clicks on points, not on a heat map's cells.

    A point's x is its column and y its row; wherever the pointer is, the nearest point answers with its sentence.
    """
    rows, columns = len(hover), len(hover[0])
    unseen = {"marker": {"opacity": 0}}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [column for _ in range(rows) for column in range(columns)],
        "y": [row for row in range(rows) for _ in range(columns)],
        "customdata": [plain(sentence) for sentences in hover for sentence in sentences],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"opacity": 0, "size": 12, "color": rgba(GREY, 1)},
        "selected": unseen,
        "unselected": unseen,
        "showlegend": False,
    }
