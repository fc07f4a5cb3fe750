"""Heads side by side: the concatenation and W_O, each head's block under its own colour."""

from typing import Any, Literal

from viz.figures.layout import SMALL
from viz.figures.palette import HEADS, rgba


def mark_blocks(
    fig: dict[str, Any], n_heads: int, width: int, *, along: Literal["columns", "rows"], chosen: int
) -> dict[str, Any]:
    """Frame each head's block of a matrix figure and name it; the chosen head's frame is the strong one.

    Args:
        fig: a figure of :func:`~viz.figures.matrix.matrix`.
        n_heads: blocks.
        width: columns (or rows) of a block.
        along: "columns" for the concatenation, "rows" for W_O.
        chosen: the head to stress.
    """
    shapes, notes = [], []
    for head in range(n_heads):
        start, end = head * width - 0.5, (head + 1) * width - 0.5
        hue, strong = HEADS[head % len(HEADS)], head == chosen
        across = {"x0": start, "x1": end, "yref": "paper", "y0": 0, "y1": 1}
        down = {"y0": start, "y1": end, "xref": "paper", "x0": 0, "x1": 1}
        line = {"color": rgba(hue, 1), "width": 3 if strong else 1}
        shapes.append({"type": "rect", "line": line, "layer": "above"} | (across if along == "columns" else down))
        place = {"x": (start + end) / 2, "yref": "paper", "y": 0, "yanchor": "top"}
        if along == "rows":
            place = {"y": (start + end) / 2, "xref": "paper", "x": 1, "xanchor": "left"}
        label = f"<b>{head}</b>" if strong else str(head)
        notes.append({"text": label, "showarrow": False, "font": {"color": rgba(hue, 1), "size": SMALL}} | place)
    return {"data": fig["data"], "layout": fig["layout"] | {"shapes": shapes, "annotations": notes}}
