"""One head's map of the whole text, a window of it exactly, and what one row looks at."""

from typing import Any

import streamlit as st
from torch import Tensor

from pages.long_text import compute
from pages.long_text.checks import map_checks
from pages.long_text.context import LongTextContext, say_whose_text, unless_stopped
from pages.long_text.pack import around, pack_map
from viz.components.kinds import Integer, Many
from viz.components.view import View
from viz.core.long.rows import WINDOW, window
from viz.core.long.streamed import LongMap
from viz.frame.checks import Check
from viz.frame.format import number, share
from viz.frame.modes import say
from viz.frame.shared import Places
from viz.params import Choice, Int

VIEW = View("long/long_map", words="long_text.long_map.", sends={"choice": Many(Integer(), 3, 3)}, colours=True)
"""It sends the row that is read, and the first row and column of the window."""
STRONGEST = 8
"""Keys listed of a row."""
POOLED = Choice("pooled", among=("most", "mean"))
LONG_ROW = Int("long_row", lambda places: places.first, high=lambda places: places.among[-1])
ZOOM_ROW, ZOOM_COLUMN = LONG_ROW.variant(name="zoom_row"), LONG_ROW.variant(name="zoom_column")


@unless_stopped
def draw(context: LongTextContext) -> list[Check]:
    """The map, the window, and the strongest keys of the row that was chosen."""
    n, picture = context.n, st.container()
    long_map = compute.head_map(context.text, context.layer, context.head)
    pooled = _pooled(context, long_map.side)
    row = LONG_ROW.read(Places((), context.seen.witness_at, range(n)))
    last = max(0, n - WINDOW)
    first = min(max(0, row - WINDOW // 2), last)
    corner = Places((), first, range(last + 1))
    zoom = ZOOM_ROW.read(corner), ZOOM_COLUMN.read(corner)
    q, k = context.seen.head(context.layer, context.head)
    cut = window(q, k, row=zoom[0], column=zoom[1], **context.seen.options(context.layer, context.head))
    weights = compute.row_of(context.text, context.layer, context.head, row)
    data = pack_map(
        long_map,
        cut,
        pooled=pooled,
        labels=context.labels,
        zoom=zoom,
        row=row,
        keys=_strongest(context, weights, row),
        looks=[*around(context.seen.tokens, row)],
        label=context.labels[row],
    )
    with picture:
        VIEW.mount(key="long_map", data=data, on={"choice": _choose})
    _say(context, long_map)
    return map_checks(context, zoom, cut, row, weights)


def _pooled(context: LongTextContext, side: int) -> str:
    """Read the pooling of the cells; there is no choice where a cell is a single weight."""
    if side == 1:
        return POOLED.options()[0]
    # A label holds the translator, and no tensor.
    t = context.t
    return POOLED.segments(
        t("long_text.pooled"), says=lambda code: t(f"long_text.pooled_{code}"), label_visibility="collapsed"
    )


def _strongest(context: LongTextContext, weights: Tensor, row: int) -> list[dict[str, Any]]:
    best = weights.topk(min(STRONGEST, context.n))
    return [
        {
            "at": at,
            "label": context.labels[at],
            "weight": weight,
            "back": row - at,
            "around": around(context.seen.tokens, at),
        }
        for at, weight in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        if weight > 0
    ]


def _say(context: LongTextContext, long_map: LongMap) -> None:
    """Say in one sentence where this head looks, and whose text it is."""
    t, rows = context.t, long_map.rows
    half = float((rows.first > 0.5).float().mean())
    say(
        t(
            "long_text.map_found",
            first=share(float(rows.first.mean())),
            half=share(half),
            distance=number(float(rows.distance.mean())),
            n=f"{context.n:,}",
        )
    )
    say_whose_text(context)


def _choose(places: list[int]) -> None:
    for parameter, value in zip((LONG_ROW, ZOOM_ROW, ZOOM_COLUMN), places, strict=True):
        # Choosing a row does not move the window.
        parameter.choose(value)
