"""Paint a mask, and see beside it what the softmax makes of it."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
import torch

from pages.masks.checks import by_its_rule, chosen_mask_check
from pages.masks.context import HUES, WITHOUT_CHIP, MasksContext, words_of
from pages.masks.every_mask import draw_large, draw_thumbnails, every_mask
from pages.masks.pack import pack_painter
from viz import limits
from viz.components.mount import count_choices, mount
from viz.core.analysis.checks import added_to_scores, heads_off, rows_error
from viz.core.attention import attend
from viz.core.heads import share_kv
from viz.frame import controls, state
from viz.frame.checks import Check, check
from viz.frame.choice import mask_details
from viz.frame.header.parts import is_whole_page
from viz.frame.mask_code import from_code, to_code
from viz.frame.modes import say

PAINTER = "painter"


def draw(context: MasksContext) -> list[Check]:
    """The masks to choose from, the chosen one to be painted on, and beside it what the softmax makes of it."""
    t, found = context.t, every_mask(context)
    draw_thumbnails(context, found)
    if st.session_state["section"] in WITHOUT_CHIP:  # else they are in the chip
        with st.container(horizontal=True, gap="large", vertical_alignment="bottom", key="mask_details"):
            mask_details(t, context.mask.kind)
    _painter(context)
    say(t(f"masks.about_{context.mask.kind}"))
    _blocked(context)
    is_large = is_whole_page() or controls.toggle(t("masks.costs"), "costs")
    large = draw_large(context, found) if is_large else []
    return [*_checks(context), *large]


def _painter(context: MasksContext) -> None:
    t = context.t
    words = {name: text for name, text in words_of(context, PAINTER).items() if name != "weights"}
    data = pack_painter(
        context.scores,
        context.laid,
        context.model_allowed,
        labels=context.labels,
        hues=HUES,
        query=context.query,
        words={**words, "weights": t("masks.painter.weights", head=context.head)},
        sent=count_choices(PAINTER),
    )
    mount("masks/mask_painter", key=PAINTER, data=data, on_choice_change=_take)


def _take() -> None:
    """Take over what was painted in the browser, if it is a mask that is not too large."""
    code = read_painted(st.session_state[PAINTER].get("choice"))
    if code is not None:
        state.put("mask", "painted")
        state.put("painted", code)


def read_painted(sent: Any) -> str | None:
    """The mask a browser sent, as a link holds it; None for anything else.

    Example:
        >>> read_painted({"code": "2.8A"}), read_painted({"code": "2.!"}), read_painted("2.8A")
        ('2.8A', None, None)
    """
    code = sent.get("code") if isinstance(sent, Mapping) else None
    try:
        return code if isinstance(code, str) and len(from_code(code)) <= limits.PAINTED_TOKENS else None
    except ValueError:
        return None


def open_diagonal() -> None:
    """Let every token look at itself, and nothing else."""
    side = len(from_code(st.session_state["_laid"]))
    state.put("mask", "painted")
    state.put("painted", to_code(torch.eye(side, dtype=torch.bool)))


def _blocked(context: MasksContext) -> None:
    """Say so where a mask leaves nothing to look at, and what can be done."""
    t, blind = context.t, context.blind
    if len(blind) == context.n:
        st.warning(t("masks.blocks_all"))
        st.button(t("masks.open_diagonal"), on_click=open_diagonal)
    elif blind:
        st.warning(t("masks.blocks_rows", n=len(blind)))
    if not bool(context.model_allowed.all()):
        st.caption(t("masks.own", n=int((~context.model_allowed).sum())))


def _checks(context: MasksContext) -> list[Check]:
    n_heads = len(context.q)
    k, v = share_kv(context.k, n_heads), share_kv(context.v, n_heads)
    trace = attend(context.q, k, v, allowed=context.allowed, **context.options)
    allowed = by_its_rule(context, context.mask)
    asked: dict[str, Any] = {**context.options, "allowed": allowed}
    found = [
        chosen_mask_check(context),
        check("truth.rows", rows_error(trace.weights, added_to_scores(context.q, context.k, **asked)), 1e-5),
        check("masks.check_sdpa", *heads_off(trace.output, context.q, context.k, context.v, **asked)),
    ]
    if n := int((~allowed).sum()):
        found.append(check("masks.check_zero", trace.weights[:, ~allowed].abs().sum(), 0.0, n=n))
    return found
