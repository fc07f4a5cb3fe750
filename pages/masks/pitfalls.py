"""What goes wrong with masks: a row with no key left, a mask that comes after the softmax, the opposite polarity."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from pages.masks.checks import chosen_mask_check
from pages.masks.context import MasksContext
from viz.components.maps import Panel, pack_maps
from viz.core.analysis.checks import largest, worst
from viz.core.attention import attend, row_softmax
from viz.core.heads import share_kv
from viz.core.mistakes.masks import (
    bare_softmax,
    filled_softmax,
    masked_after,
    renormalise,
    shifted_softmax,
    through_mha,
    torchs_weights,
)
from viz.frame.checks import Check, check
from viz.frame.format import number, part, share, span
from viz.frame.modes import say
from viz.frame.shared import QUERY
from viz.frame.show import MAPS, show_table
from viz.frame.specs import Mask
from viz.text.direction import isolate

EMPTY_ROW = r"\frac{0 \cdot e^{s_{ij}}}{\sum_m 0 \cdot e^{s_{im}}} = \frac00"
Way = Callable[[Tensor, Tensor], Tensor]


def _before(scores: Tensor, allowed: Tensor) -> Tensor:
    """As everywhere in this app."""
    return row_softmax(scores.masked_fill(~allowed, -torch.inf))


def _in_double(scores: Tensor, allowed: Tensor) -> Tensor:
    return shifted_softmax(scores.double(), allowed).float()


WAYS: dict[str, Way] = {
    "bare": bare_softmax,
    "filled": filled_softmax,
    "shifted": shifted_softmax,
    "double": _in_double,
    "sdpa": torchs_weights,
    "ours": _before,
}


def empty_row(context: MasksContext) -> list[Check]:
    """One query that may look nowhere, in the hands of six programs."""
    t, row, labels = context.t, context.query, context.labels
    names = [f"{i} · {isolate(label)}" for i, label in enumerate(labels)]
    emptied = context.allowed.clone()
    emptied[row] = False
    values = share_kv(context.v, len(context.q))[context.head]
    table = []
    for name, way in WAYS.items():
        weights = way(context.scores, emptied)[row]
        length = float((weights @ values).norm())
        table.append(
            {
                t("masks.t_way"): t(f"masks.way_{name}"),
                t("masks.t_weights"): _range(weights),
                t("masks.t_sum"): number(float(weights.sum()), 3),
                t("masks.t_length"): number(length, 3),
            }
        )
    show_table(table)
    QUERY.selectbox(t("masks.empty_query"), context.places, says=names.__getitem__, width=260)
    st.caption(
        t("masks.empty_note", own=number(float((context.every_head.weights[context.head, row] @ values).norm()), 3))
    )
    ours, torchs = (WAYS[name](context.scores, emptied) for name in ("ours", "sdpa"))
    return [
        chosen_mask_check(context),
        check("masks.check_empty", ours[row].abs().sum(), 0.0),
        check("masks.check_ways", (ours - torchs).abs().max(), 1e-5),
    ]


def explain_empty_row(context: MasksContext) -> str:
    """Draw the formula of an empty row, and say what each program makes of it."""
    t = context.t
    st.latex(EMPTY_ROW)
    st.markdown("\n".join(f"- {t(f'masks.way_{name}')}: {t(f'masks.means_{name}')}" for name in WAYS))
    return EMPTY_ROW


def _range(weights: Tensor) -> str:
    return span(number(float(weights.min())), number(float(weights.max())))


def _with_a_mask(context: MasksContext) -> MasksContext:
    """Return the context with a causal mask where nothing is blocked and nothing was chosen."""
    if context.mask.kind != "own" or not context.allowed.all():
        return context
    return replace(context, mask=Mask(kind="causal"))


def _say_instead(context: MasksContext) -> None:
    """Say so where a causal mask is shown in place of none."""
    if _with_a_mask(context) is not context:
        st.caption(context.t("masks.instead"))


def too_late(context: MasksContext) -> list[Check]:
    """Break it: the mask after the softmax."""
    t, asked, context = context.t, context, _with_a_mask(context)
    if bool(context.allowed.all()):
        st.info(t("masks.late_nothing"))
        return []
    sees = context.allowed.any(-1)
    if not sees.any():
        st.info(t("masks.late_blind"))
        return []
    wrong = masked_after(context.scores, context.allowed)
    titles = [t("masks.late_right"), t("masks.late_wrong")]
    _pair(context, titles, torch.stack([context.weights, wrong]), "late", t("masks.axes"))
    sums = wrong.sum(-1).where(sees, torch.inf)  # a row with nothing to see sums to 0 either way
    low = int(sums.argmin())
    if n := int((sums < 0.99).sum()):
        st.text(t("masks.late_row", query=context.labels[low], lost=share(1 - float(sums[low]))))
        st.warning(t("masks.late_found", low=part(float(sums[low])), n=n, all=int(sees.sum())))
    else:  # summed over what is blocked: 1 minus the sum would be rounding
        lost = float((context.every_head.weights[context.head] * ~context.allowed)[sees].sum(-1).max())
        st.info(t("masks.late_little", lost=share(lost)))
    _say_instead(asked)
    off = (renormalise(wrong) - context.weights).abs().max()
    say(t("masks.late_mended", off=number(float(off))))
    return [chosen_mask_check(context), check("masks.check_mended", off, 1e-5)]


def polarity(context: MasksContext) -> list[Check]:
    """One mask in two conventions: what is coloured is True."""
    asked, context = context, _with_a_mask(context)
    t, allowed = context.t, context.allowed
    titles = [t("masks.polarity_sdpa", n=int(allowed.sum())), t("masks.polarity_mha", n=int((~allowed).sum()))]
    _pair(context, titles, torch.stack([allowed, ~allowed]).float(), "polarity", t("masks.axes_true"))
    if context.v.shape[-1] != context.k.shape[-1]:
        return [chosen_mask_check(context)]
    right, turned = through(context, allowed), through(context, ~allowed)
    if right:
        say(t("masks.polarity_right", off=number(max(right))))
    if turned and max(turned) <= 1e-5 * largest(context.v):
        st.info(t("masks.polarity_alike", off=number(max(turned))))
    elif turned:
        say(t("masks.polarity_turned", mha=number(turned[0]), sdpa=number(turned[1])))
    else:
        st.info(t("masks.polarity_no_row"))
    _say_instead(asked)
    st.caption(t("masks.polarity_note"))
    tolerance = 1e-5 * largest(context.every_head.output)
    shown = [chosen_mask_check(context)]
    return [*shown, check("masks.check_polarity", worst(right), tolerance)] if right else shown


def through(context: MasksContext, allowed: Tensor) -> tuple[float, float] | None:
    """How far ``nn.MultiheadAttention`` and SDPA are from our heads if they are told that ``allowed`` is the mask.

    On the same q, k and v, without what the model adds to its scores; rows that may look nowhere, here or there, are
    left out: the module makes NaN of them. None, if that leaves no row to compare.
    """
    n_heads, scale = len(context.q), context.every_head.scale
    q, k, v = context.q, share_kv(context.k, n_heads), share_kv(context.v, n_heads)
    rows = context.allowed.any(-1) & allowed.any(-1)
    if not rows.any():
        return None
    ours = attend(q, k, v, allowed=context.allowed, scale=scale).output

    def off(output: Tensor) -> float:
        return float((output - ours)[:, rows].abs().max())

    module = through_mha(q, k, v, blocked=~allowed, scale=scale)
    return off(module), off(scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale))


def _pair(context: MasksContext, titles: list[str], maps: Tensor, key: str, axes: str) -> None:
    """Two maps of the same tokens side by side."""
    panels = [Panel(code=str(i), title=title, alt=title, labels=context.labels) for i, title in enumerate(titles)]
    packed = pack_maps(
        panels,
        maps,
        what="weights",
        limit=1.0,
        gutter=True,
    )
    MAPS.mount(key=key, data=packed, words={"says": context.t("map.looks"), "axes": axes})
