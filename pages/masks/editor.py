"""Painting a mask, beside the resulting softmax weights."""

from typing import Any

import streamlit as st
import torch

from pages.masks.checks import current_mask_check, visible_by_rule
from pages.masks.context import BASE_MASK, WITHOUT_CHIP, MasksContext
from pages.masks.every_mask import draw_large, draw_thumbnails, every_mask
from pages.masks.pack import pack_painter
from viz import limits
from viz.components.kinds import Text
from viz.components.view import View
from viz.core.analysis.checks import added_to_scores, heads_off, rows_error
from viz.core.attention import attend
from viz.core.heads import share_kv
from viz.frame.checks import Check, check
from viz.frame.inputs import MASK, PAINTED_MASK, mask_details
from viz.frame.mask_code import from_code, to_code
from viz.frame.modes import say
from viz.frame.page import ALL
from viz.frame.shared import SECTION
from viz.params import Flag

CODE = Text(limits.PAINTED_TOKENS**2 // 6 + 4, reads=from_code)
"""The largest mask has so many characters: six cells in each, two digits and a dot."""
PAINTER = View("masks/mask_painter", words="masks.painter.", sends={"code": CODE}, colours=True)
COSTS = Flag("costs")


def draw(context: MasksContext) -> list[Check]:
    """Draw the masks to choose from, the painter, and the resulting weights."""
    t, masks = context.t, every_mask(context)
    draw_thumbnails(context, masks)
    # Other sections have them in the chip.
    if SECTION.value in WITHOUT_CHIP:
        with st.container(horizontal=True, gap="large", vertical_alignment="bottom", key="mask_details"):
            mask_details(t, context.mask.kind)
    _painter(context)
    say(t(f"masks.about_{context.mask.kind}"))
    _warn_of_empty_rows(context)
    is_large = SECTION.value == ALL or COSTS.toggle(t("masks.costs"))
    large = draw_large(context, masks) if is_large else []
    return [*_checks(context), *large]


def _painter(context: MasksContext) -> None:
    t = context.t
    data = pack_painter(
        context.scores,
        context.page_mask,
        context.model_allowed,
        labels=context.labels,
        query=context.query,
    )
    words = {"weights": t("masks.painter.weights", head=context.head)}
    PAINTER.mount(key="painter", data=data, words=words, on={"code": _paint})


def _paint(code: str) -> None:
    MASK.set("painted")
    PAINTED_MASK.set(code)


def open_diagonal() -> None:
    """Keep only the diagonal visible."""
    side = len(from_code(BASE_MASK.read()))
    MASK.set("painted")
    PAINTED_MASK.set(to_code(torch.eye(side, dtype=torch.bool)))


def _warn_of_empty_rows(context: MasksContext) -> None:
    """Warn of fully masked queries, and offer remedies."""
    t, fully_masked = context.t, context.fully_masked
    if len(fully_masked) == context.n:
        st.warning(t("masks.blocks_all"))
        st.button(t("masks.open_diagonal"), on_click=open_diagonal)
    elif fully_masked:
        st.warning(t("masks.blocks_rows", n=len(fully_masked)))
    if not bool(context.model_allowed.all()):
        st.caption(t("masks.own", n=int((~context.model_allowed).sum())))


def _checks(context: MasksContext) -> list[Check]:
    n_heads = len(context.q)
    k, v = share_kv(context.k, n_heads), share_kv(context.v, n_heads)
    trace = attend(context.q, k, v, allowed=context.visible, **context.options)
    visible = visible_by_rule(context, context.mask)
    options: dict[str, Any] = {**context.options, "allowed": visible}
    checks = [
        current_mask_check(context),
        check("truth.rows", rows_error(trace.weights, added_to_scores(context.q, context.k, **options)), 1e-5),
        check("masks.check_sdpa", *heads_off(trace.output, context.q, context.k, context.v, **options)),
    ]
    if n := int((~visible).sum()):
        checks.append(check("masks.check_zero", trace.weights[:, ~visible].abs().sum(), 0.0, n=n))
    return checks
