"""Layers with windows and layers without: the tokens that the last token depends on, layer by layer."""

from collections.abc import Callable
from typing import Any, cast

import streamlit as st
import torch
from torch import Tensor

from pages.masks.context import MasksContext
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.receptive_field import cone
from viz.core.masks import chunks, look_back
from viz.core.variants.today.interleaved import PERIODS, Near, earliest_token, full_layers, interleaved_masks
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.shared import FULL_LAYERS, NEAR_SIZE, STACK
from viz.frame.show import show_matrix
from viz.params import Choice, Scope
from viz.text.naming import name_token

REACH = r"""\begin{gathered}
0 \le i - j < w \ \text{ (window)}, \qquad \lfloor i/w \rfloor = \lfloor j/w \rfloor,\ j \le i \ \text{ (chunks)}
\\ \text{earliest token} = i - L\,(w - 1), \quad \text{or } w \lfloor i/w \rfloor, \quad \text{or 0 with a full layer}
\end{gathered}"""

PATTERN = FULL_LAYERS.variant(default="none", among=tuple(PERIODS), scope=Scope("layers"))
NEAR = Choice("near", among=("window", "chunks"))
SIZE = NEAR_SIZE.variant(scope=Scope("layers"))
DEPTH = STACK.variant(default=6, high=12, scope=Scope("layers"))


def code(_: MasksContext) -> tuple[Callable[..., Any], ...]:
    """The functions that made the masks on the screen, and those that follow the last token through them."""
    patterns = (full_layers,) * (PERIODS[PATTERN.read()] > 0)
    return (*patterns, interleaved_masks, chunks if NEAR.read() == "chunks" else look_back, cone, earliest_token)


def draw(context: MasksContext) -> list[Check]:
    """Draw what the last token depends on, level by level, and the first token that has a say in it."""
    t, n, picture, finding = context.t, context.n, st.container(), st.container()
    pattern = PATTERN.segments(t("masks.layers.pattern"), says=lambda code: t(f"masks.layers.{code}"))
    near = cast("Near", NEAR.segments(t("masks.layers.near"), says=lambda code: t(f"masks.layers.{code}")))
    left, right = st.columns(2)
    with left:
        size = SIZE.slider(t("masks.layers.size"))
    with right:
        depth = DEPTH.slider(t("masks.layers.depth"))
    full = full_layers(depth, period=PERIODS[pattern])
    masks = interleaved_masks(n, full, size=size, near=near)
    levels = cone(masks, n - 1)
    with picture:
        levels_in_browser = _show_levels(context, full, levels, near)
    earliest = earliest_token(n - 1, full, size=size, near=near)
    cells = int(masks.sum()) / (depth * n * (n + 1) // 2)
    with finding:
        say(t("masks.layers.says", L=depth, n=n - earliest, all=n))
        first, last = (name_token(context.labels, place) for place in (earliest, n - 1))
        st.text(t("masks.layers.span", first=first, last=last))
    st.caption(t("masks.layers.cells", cells=share(cells)))
    st.caption(t("masks.layers.models"))
    return [*_checks(n, full, size, near, levels_in_browser), _pattern_check(pattern, full)]


def _show_levels(context: MasksContext, full: tuple[bool, ...], levels: Tensor, near: Near) -> Tensor:
    """Draw the levels, the highest on top; return them as the browser reads them, the words first."""
    t = context.t
    kinds = [t(f"masks.layers.row_{'full' if is_full else near}", layer=i) for i, is_full in enumerate(full)]
    matrix = Matrix(
        values=levels.float().masked_fill(~levels, -torch.inf).flip(0),
        rows=Axis([t("masks.layers.row_words"), *kinds][::-1], t("masks.layers.rows")),
        columns=Axis(context.labels, t("axis.tokens")),
        kind="weights",
        hover=t("masks.layers.cell"),
        blocked=t("masks.layers.cell_closed"),
        scale=False,
    )
    levels_in_browser = show_matrix(
        t,
        matrix,
        key="layers",
        alt=t("masks.layers.alt", last=name_token(context.labels, len(context.labels) - 1), n=int(levels[0].sum())),
    )
    return levels_in_browser.isfinite().flip(0)


def levels_by_hand(n: int, full: tuple[bool, ...], size: int, near: Near) -> list[set[int]]:
    """Return the tokens that the last one depends on at each level, the words first, pair by pair."""

    def is_open(i: int, j: int, is_full: bool) -> bool:
        is_near = i - j < size if near == "window" else i // size == j // size
        return j <= i and (is_full or is_near)

    levels = [{n - 1}]
    for is_full in reversed(full):
        levels.append({j for j in range(n) for i in levels[-1] if is_open(i, j, is_full)})
    return levels[::-1]


def _checks(n: int, full: tuple[bool, ...], size: int, near: Near, levels: Tensor) -> list[Check]:
    by_hand = levels_by_hand(n, full, size, near)
    wrong = sum(set(level.nonzero().flatten().tolist()) != hand for level, hand in zip(levels, by_hand, strict=True))
    off = earliest_token(n - 1, full, size=size, near=near) - min(by_hand[0])
    standard = interleaved_masks(n, full, size=n, near=near) != torch.ones(n, n, dtype=torch.bool).tril()
    return [
        check("masks.layers.check_levels", wrong, 0),
        check("masks.layers.check_earliest", abs(off), 0),
        check("masks.layers.check_standard", int(standard.sum()), 0, n=n),
    ]


def _pattern_check(pattern: str, full: tuple[bool, ...]) -> Check:
    """Check that after so many layers with a window comes a full one: 5 in "five"."""
    between = {"five": 5, "three": 3, "one": 1, "full": 0, "none": len(full)}[pattern]
    since, wrong = 0, 0
    for is_full in full:
        wrong += is_full != (since == between)
        since = 0 if is_full else since + 1
    return check("masks.layers.check_pattern", wrong, 0)
