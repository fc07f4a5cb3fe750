"""Heads side by side: the concatenation and W_O, each head's block under its own colour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from viz.figures.layout import LETTERS, Figure, axis, base_layout
from viz.figures.palette import HEADS, plain, rgba

CELL, ABOVE_AND_BELOW = 24, 60
"""Pixels: of a row, and of what stands above and below all rows."""


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The heads' blocks in a matrix, each of ``width`` columns (of the concatenation) or rows (of W_O).

    The chosen head's frame is the strong one.
    """

    n_heads: int
    width: int
    along: Literal["columns", "rows"]
    chosen: int

    def frames(self) -> list[dict[str, Any]]:
        """A frame around each head's block, as shapes."""
        return [self._frame(head) for head in range(self.n_heads)]

    def names(self) -> list[dict[str, Any]]:
        """The number of each head beside its block, as annotations."""
        return [self._name(head) for head in range(self.n_heads)]

    def _frame(self, head: int) -> dict[str, Any]:
        start, end = self._ends(head)
        line = {"color": _colour(head), "width": 3 if head == self.chosen else 1}
        if self.along == "columns":
            edges = {"x0": start, "x1": end, "yref": "paper", "y0": 0, "y1": 1}
        else:
            edges = {"y0": start, "y1": end, "xref": "paper", "x0": 0, "x1": 1}
        return {"type": "rect", "line": line, "layer": "above"} | edges

    def _name(self, head: int) -> dict[str, Any]:
        middle = sum(self._ends(head)) / 2
        place: dict[str, Any] = {"x": middle, "yref": "paper", "y": 0, "yanchor": "top"}
        if self.along == "rows":
            place = {"y": middle, "xref": "paper", "x": 1, "xanchor": "left"}
        text = f"<b>{head}</b>" if head == self.chosen else str(head)
        return {"text": text, "showarrow": False, "font": LETTERS} | place

    def _ends(self, head: int) -> tuple[float, float]:
        return head * self.width - 0.5, (head + 1) * self.width - 0.5


def _colour(head: int) -> str:
    return rgba(HEADS[head % len(HEADS)], 1)


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
