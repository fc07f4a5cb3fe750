"""Pitfalls of masks: a fully masked row, a mask after the softmax, the opposite polarity."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from pages.masks.checks import current_mask_check
from pages.masks.context import MasksContext, masked_softmax
from viz.components.maps import show_maps
from viz.core.analysis.checks import largest, worst
from viz.core.attention import attend
from viz.core.heads import share_kv
from viz.core.mistakes.masks import (
    mask_after_softmax,
    renormalise,
    sdpa_weights,
    softmax_add_1e9,
    softmax_inf_fill,
    softmax_replace_1e9,
    through_mha,
)
from viz.frame.checks import Check, check
from viz.frame.format import at_most, number, share, span
from viz.frame.modes import say
from viz.frame.shared import QUERY
from viz.frame.show import show_table
from viz.frame.specs import Mask
from viz.text import paragraph
from viz.text.naming import list_token, name_token

EMPTY_ROW = r"\frac{0 \cdot e^{s_{ij}}}{\sum_m 0 \cdot e^{s_{im}}} = \frac00"
Way = Callable[[Tensor, Tensor], Tensor]


WAYS: dict[str, Way] = {
    "bare": softmax_inf_fill,
    "filled": softmax_replace_1e9,
    "shifted": softmax_add_1e9,
    "double": lambda scores, visible: softmax_add_1e9(scores.double(), visible).float(),
    "sdpa": sdpa_weights,
    "ours": masked_softmax,
}


def empty_row(context: MasksContext) -> list[Check]:
    """Draw one fully masked query as six implementations compute it."""
    t, row, labels = context.t, context.query, context.labels
    names = [list_token(i, label) for i, label in enumerate(labels)]
    visible = context.visible.clone()
    visible[row] = False
    values = share_kv(context.v, len(context.q))[context.head]
    table = []
    for name, way in WAYS.items():
        weights = way(context.scores, visible)[row]
        length = float((weights @ values).norm())
        table.append(
            {
                t("masks.t_way"): t(f"masks.way_{name}"),
                t("masks.t_weights"): span(number(float(weights.min())), number(float(weights.max()))),
                t("masks.t_sum"): number(float(weights.sum()), 3),
                t("masks.t_length"): number(length, 3),
            }
        )
    show_table(table)
    QUERY.selectbox(t("masks.empty_query"), context.places, says=names.__getitem__, width=260)
    st.caption(
        t("masks.empty_note", own=number(float((context.every_head.weights[context.head, row] @ values).norm()), 3))
    )
    ours, torchs = (WAYS[name](context.scores, visible) for name in ("ours", "sdpa"))
    return [
        current_mask_check(context),
        check("masks.check_empty", ours[row].abs().sum(), 0.0),
        check("masks.check_ways", (ours - torchs).abs().max(), 1e-5),
    ]


def explain_empty_row(context: MasksContext) -> str:
    """Draw the formula of an empty row, and describe each implementation's result."""
    t = context.t
    st.latex(EMPTY_ROW)
    st.markdown("\n".join(f"- {t(f'masks.way_{name}')}: {t(f'masks.means_{name}')}" for name in WAYS))
    return EMPTY_ROW


def _with_causal_default(context: MasksContext) -> MasksContext:
    """Return the context with a causal mask where no mask is chosen and nothing is blocked."""
    if context.mask.kind != "own" or not context.visible.all():
        return context
    return replace(context, mask=Mask(kind="causal"))


def _note_replacement(context: MasksContext) -> None:
    """Note that a causal mask replaces none."""
    if _with_causal_default(context) is not context:
        st.caption(context.t("masks.instead"))


def too_late(context: MasksContext) -> list[Check]:
    """Draw the weights with the mask applied after the softmax, beside the correct ones."""
    t, original, context = context.t, context, _with_causal_default(context)
    sees = context.visible.any(-1)
    if not (sees & ~context.visible.all(-1)).any():
        st.info(t("masks.late_nothing"))
        return []
    wrong = mask_after_softmax(context.scores, context.visible)
    titles = [t("masks.late_right"), t("masks.late_wrong")]
    maps = torch.stack([context.weights, wrong])
    show_maps(t, titles, maps, context.labels, key="late", axes=paragraph(t("axis.both"), t("masks.strength")))
    # The blocked weights are added up, since 1 minus the sum of a row would be rounding.
    lost = (context.every_head.weights[context.head] * ~context.visible).sum(-1) * sees
    most = int(lost.argmax())
    st.text(t("masks.late_row", query=name_token(context.labels, most), lost=share(float(lost[most]))))
    st.warning(t("masks.late_found", n=int((lost > 0.01).sum()), all=int(sees.sum())))
    _note_replacement(original)
    off = (renormalise(wrong) - context.weights).abs().max()
    say(t("masks.late_mended", off=number(float(off))))
    return [current_mask_check(context), check("masks.check_mended", off, 1e-5)]


def polarity(context: MasksContext) -> list[Check]:
    """Draw one mask in both conventions: coloured cells are True."""
    original, context = context, _with_causal_default(context)
    t, visible = context.t, context.visible
    titles = [t("masks.polarity_sdpa", n=int(visible.sum())), t("masks.polarity_mha", n=int((~visible).sum()))]
    maps = torch.stack([visible, ~visible]).float()
    show_maps(t, titles, maps, context.labels, key="polarity", axes=paragraph(t("axis.both"), t("masks.blue")))
    if context.v.shape[-1] != context.k.shape[-1]:
        return [current_mask_check(context)]
    right, inverted = through(context, visible), through(context, ~visible)
    if right:
        say(t("masks.polarity_right", off=number(max(right))))
    if inverted:
        say(t("masks.polarity_turned", mha=at_most(inverted[0]), sdpa=at_most(inverted[1])))
    else:
        st.info(t("masks.late_nothing"))
    _note_replacement(original)
    st.caption(t("masks.polarity_note"))
    tolerance = 1e-5 * largest(context.every_head.output)
    checks = [current_mask_check(context)]
    return [*checks, check("masks.check_polarity", worst(right), tolerance)] if right else checks


def through(context: MasksContext, visible: Tensor) -> tuple[float, float] | None:
    """Return the errors of ``nn.MultiheadAttention`` and SDPA against our heads if ``visible`` is passed as the mask.

    On the same q, k and v, without the model's bias; rows fully masked by either mask are left out, since the module
    makes NaN of them. None if no row is left.
    """
    n_heads, scale = len(context.q), context.every_head.scale
    q, k, v = context.q, share_kv(context.k, n_heads), share_kv(context.v, n_heads)
    rows = context.visible.any(-1) & visible.any(-1)
    if not rows.any():
        return None
    ours = attend(q, k, v, allowed=context.visible, scale=scale).output

    def off(output: Tensor) -> float:
        return float((output - ours)[:, rows].abs().max())

    module = through_mha(q, k, v, blocked=~visible, scale=scale)
    return off(module), off(scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=scale))
