"""Heads side by side: the concatenation and W_O, each head's block under its own colour."""

from dataclasses import dataclass
from typing import Any, Literal

from viz.figures.layout import SMALL
from viz.figures.palette import HEADS, rgba


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
        return {"text": text, "showarrow": False, "font": {"color": _colour(head), "size": SMALL}} | place

    def _ends(self, head: int) -> tuple[float, float]:
        return head * self.width - 0.5, (head + 1) * self.width - 0.5


def _colour(head: int) -> str:
    return rgba(HEADS[head % len(HEADS)], 1)
