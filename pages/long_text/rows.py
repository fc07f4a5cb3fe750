"""Changes along the text: each row's weight on the first token, its distance and its entropy."""

import torch
from torch import Tensor

from pages.long_text import compute
from pages.long_text.checks import rows_checks
from pages.long_text.context import LongTextContext, say_whose_text, unless_stopped
from viz.core.long.streamed import side_of
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check
from viz.frame.modes import say
from viz.frame.show import show_lines

POINTS = 256
"""Of a curve, at most."""


def averaged(values: Tensor) -> tuple[list[float], Tensor]:
    """At most ``POINTS`` means of neighbouring rows, and the middle row of each."""
    n, side = len(values), side_of(len(values), POINTS)
    parts = values.float().split(side)
    middles = [start + (min(start + side, n) - 1 - start) / 2 for start in range(0, n, side)]
    return middles, torch.stack([part.mean() for part in parts])


@unless_stopped
def draw(context: LongTextContext) -> list[Check]:
    """Three figures of the same rows: shares, distance, entropy beside what an even spread would have."""
    t = context.t
    long_map = compute.head_map(context.text, context.layer, context.head)
    rows, side = long_map.rows, side_of(context.n, POINTS)
    sees = context.seen.sees(context.layer, torch.arange(context.n))
    at = averaged(rows.first)[0]
    nowhere = {"nowhere": rows.nowhere} if rows.nowhere.any() else {}
    labels = {
        "shares": {"first": rows.first, "previous": rows.previous, "largest": rows.largest, **nowhere},
        "distances": {"distance": rows.distance},
        "entropies": {"entropy": rows.entropy, "even": sees.log()},
    }
    for figure, series in labels.items():
        title = t(f"long_text.axis_{figure}")
        limits = {"limits": (0.0, 1.0)} if figure == "shares" else {"from_zero": True}
        averages = {t(f"long_text.row_{name}"): averaged(values)[1] for name, values in series.items()}
        fig = curves(at, averages, x=Axis(t("long_text.axis_row")), y=Axis(title, grid=True, **limits), height=220)
        show_lines(fig, key=f"long_{figure}", alt=title)
    say(t("long_text.rows_found", side=side))
    say_whose_text(context)
    return rows_checks(context, long_map)
