"""One head's map of the whole text, a window of it exactly, and what one row looks at."""

from typing import Any

import streamlit as st
from torch import Tensor

from pages.long_text import compute
from pages.long_text.checks import map_checks
from pages.long_text.context import HUES, LongTextContext, say_whose_text, unless_stopped
from pages.long_text.pack import around, pack_map
from pages.long_text.words import words_of
from viz.components.mount import mount
from viz.core.long.rows import WINDOW, window
from viz.core.long.streamed import LongMap
from viz.frame import controls, state
from viz.frame.checks import Check
from viz.frame.modes import say

VIEW = "long_map"
STRONGEST = 8
"""Keys listed of a row."""
POOLED = ("most", "mean")


@unless_stopped
def draw(context: LongTextContext) -> list[Check]:
    """The map, the window, and the strongest keys of the row that was chosen."""
    n, picture = context.n, st.container()
    found = compute.head_map(context.text, context.layer, context.head)
    pooled = _pooled(context, found.side)
    row = state.whole("long_row", context.seen.witness_at, 0, n - 1)
    last = max(0, n - WINDOW)
    first = min(max(0, row - WINDOW // 2), last)
    zoom = state.whole("zoom_row", first, 0, last), state.whole("zoom_column", first, 0, last)
    q, k = context.seen.head(context.layer, context.head)
    cut = window(q, k, row=zoom[0], column=zoom[1], **context.seen.options(context.layer))
    weights = compute.row_of(context.text, context.layer, context.head, row)
    data = pack_map(
        found,
        cut,
        pooled=pooled,
        labels=context.labels,
        zoom=zoom,
        row=row,
        keys=_strongest(context, weights, row),
        looks=[*around(context.seen.tokens, row)],
        label=context.labels[row],
        hues=HUES,
        words=words_of(context, VIEW),
    )
    with picture:
        mount("long/long_map", key=VIEW, data=data, on_choice_change=_take)
    _say(context, found)
    return map_checks(context, zoom, cut, row, weights)


def _pooled(context: LongTextContext, side: int) -> str:
    """What a cell shows of the weights it pools; where it is one weight there is nothing to choose."""
    if side == 1:
        return POOLED[0]
    t = context.t  # a label holds the translator, and no tensor
    return controls.choice(
        t("long_text.pooled"),
        "pooled",
        POOLED,
        lambda code: t(f"long_text.pooled_{code}"),
        label_visibility="collapsed",
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


def _say(context: LongTextContext, found: LongMap) -> None:
    """Say in one sentence where this head looks, and whose text it is."""
    t, rows = context.t, found.rows
    half = float((rows.first > 0.5).float().mean())
    say(
        t(
            "long_text.map_found",
            first=f"{float(rows.first.mean()):.0%}",
            half=f"{half:.0%}",
            distance=f"{float(rows.distance.mean()):,.0f}",
            n=f"{context.n:,}",
        )
    )
    say_whose_text(context)


def _take() -> None:
    """Take over what was chosen in the browser: a row, and where the window begins."""
    match st.session_state[VIEW].get("choice"):
        case [int(row), int(top), int(left), int()]:
            for name, value in (("long_row", row), ("zoom_row", top), ("zoom_column", left)):
                state.choose(name, max(0, value))  # the window stays where it is, whatever row is read in it
