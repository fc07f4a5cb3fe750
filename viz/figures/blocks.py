"""Heads side by side: which head each number of a matrix belongs to."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from viz.figures.layout import LETTERS, Figure, axis, base_layout
from viz.figures.palette import HEADS, plain, rgba

CELL, ABOVE_AND_BELOW = 24, 60
"""Pixels: of a row, and of what stands above and below all rows."""


def whose(values: Tensor, owners: Tensor, rows: Sequence[str], *, title: str, column_title: str) -> Figure:
    """Draw small whole numbers, each on the colour of the head that it belongs to.

    Args:
        values: (rows, columns), printed.
        owners: the same shape, the number of each cell's head.
        rows: what stands at the left of each row, shown literally.
        title: what a row is.
        column_title: what a column is.
    """
    n_rows, n_columns = values.shape
    n_heads = int(owners.max()) + 1
    steps = [
        [edge / n_heads, rgba(HEADS[head % len(HEADS)], 0.45)] for head in range(n_heads) for edge in (head, head + 1)
    ]
    heat = {
        "type": "heatmap",
        "z": owners.int().numpy(),
        "zmin": 0,
        "zmax": n_heads,
        "colorscale": steps,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "text": values.int().tolist(),
        "texttemplate": "%{text}",
        "textfont": LETTERS,
        "hoverinfo": "skip",
    }
    names: dict[str, Any] = {"tickvals": list(range(n_rows)), "ticktext": [plain(row) for row in rows]}
    still: dict[str, Any] = {"fixedrange": True, "zeroline": False}
    layout = base_layout(
        CELL * n_rows + ABOVE_AND_BELOW,
        xaxis=axis(column_title, tickvals=list(range(n_columns)), **still),
        yaxis=axis(title, autorange="reversed", **names, **still),
    )
    return {"data": [heat], "layout": layout}
