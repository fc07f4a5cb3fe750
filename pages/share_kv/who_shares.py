"""Who shares keys and values with whom, and the classic mistake: sharing them out in the wrong order."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from pages.share_kv.context import ShareKvContext, beside_groups, say_whose_numbers
from pages.share_kv.pack import pack_sharing
from viz import limits
from viz.components.view import View
from viz.core.analysis.checks import added_to_scores, largest, rounding, sdpa_off
from viz.core.heads import MultiHeadTrace, share_kv
from viz.core.variants.kv_sharing import attend_mqa, kv_head_of, repeat_kv
from viz.frame.checks import Check, attention_checks, check
from viz.frame.format import number
from viz.params import Flag

MISTAKE = Flag("mistake")
"""Keys and values shared out in the wrong order."""

SHARING = View("share_kv/sharing", words="share_kv.picture.", colours=True)


def draw(context: ShareKvContext) -> list[Check]:
    """The brackets; below them a switch that shares keys and values out in the wrong order."""
    t, picture = context.t, beside_groups(context, first=True)
    mistake = MISTAKE.toggle(t("share_kv.mistake"), help=t("share_kv.mistake_help"))
    shown = context.with_kv_heads(context.n_kv_heads, mistake=True) if mistake else context.layer
    reads = kv_head_of(context.spec.H, context.n_kv_heads, repeat_kv if mistake else share_kv)
    with picture:
        _brackets(context, shown, reads)
    if mistake:
        _say_mistake(context, shown, reads)
    return _checks(context, shown)


def _brackets(context: ShareKvContext, shown: MultiHeadTrace, reads: list[int]) -> None:
    """A bracket for each key/value head: its K and V, and the attention of the query heads that use them."""
    t, scene, spec = context.t, context.scene, context.spec
    n = min(len(scene.labels), limits.SHARED_TOKENS)
    data = pack_sharing(
        shown.k[:, :n],
        shown.v[:, :n],
        shown.weights[:, :n, :n],
        reads=reads,
        labels=scene.labels[:n],
    )
    SHARING.mount(key="share_picture", data=data)
    if n < len(scene.labels):
        st.caption(t("share_kv.first", n=n))
    st.text(t("share_kv.shapes", H=spec.H, G=spec.G, n=len(scene.labels), d_k=spec.d_k, d_v=spec.d_v))
    say_whose_numbers(context)


def _say_mistake(context: ShareKvContext, shown: MultiHeadTrace, reads: list[int]) -> None:
    """What the mistake did: to how many heads, to the output, and whether the checks noticed."""
    t, H, G = context.t, context.spec.H, context.n_kv_heads
    wrong = sum(read != i * G // H for i, read in enumerate(reads))
    off = float((shown.output - context.layer.output).abs().max())
    noticed, tolerance = sdpa_off(shown, **context.asked)
    if not wrong:
        st.caption(t("share_kv.mistake_none"))
    elif noticed > tolerance:
        st.warning(t("share_kv.mistake_found", wrong=wrong, H=H, off=number(off)))
    else:
        st.info(t("share_kv.mistake_quiet", wrong=wrong, H=H))


def head_by_head(shown: MultiHeadTrace, **asked: Any) -> Tensor:
    """The layer's output as multi-head attention is written in a loop: each head by itself, by torch's own function.

    Args:
        shown: a layer with as many key/value heads as query heads.
        asked: how it was asked to attend, as in ``attend``; without a scale torch takes its own, 1/sqrt(d_k).
    """
    added = _added(shown, asked).expand_as(shown.weights)
    outputs = [
        scaled_dot_product_attention(q[None], k[None], v[None], mask[None], scale=asked.get("scale"))[0]
        for q, k, v, mask in zip(shown.q, shown.k, shown.v, added, strict=True)
    ]
    return linear(torch.cat(outputs, -1), shown.projections.w_o.T, shown.projections.b_o)


def _added(shown: MultiHeadTrace, asked: Mapping[str, Any]) -> Tensor:
    """What stands between the scaled scores and the softmax; zeros, where that is nothing."""
    added = added_to_scores(shown.q, shown.k, **asked)
    return torch.zeros(shown.weights.shape[-2:]) if added is None else added


def _checks(context: ShareKvContext, shown: MultiHeadTrace) -> list[Check]:
    """Of the layer as shown: with the mistake switched on they must fail."""
    asked, G, H = context.asked, context.n_kv_heads, context.spec.H
    found, added = attention_checks(shown, **asked), _added(shown, asked)
    share = rounding(shown.q, shown.k, asked.get("scale"))
    if G == H:
        off = (head_by_head(shown, **asked) - shown.output).abs().max()
        found.append(check("share_kv.check_mha", off, share * largest(shown.output)))
    if G == 1 and bool(added.isfinite().any(-1).all()):
        alone = attend_mqa(shown.q, shown.k[0], shown.v[0], masked_by=added, scale=asked.get("scale"))
        off = (alone - shown.head_outputs).abs().max()
        found.append(check("share_kv.check_mqa", off, share * largest(shown.head_outputs)))
    if not context.call.is_changed:  # RoPE turns k after its projection, so that k is not X W_K
        weights = shown.projections
        k = linear(shown.memory, weights.w_k.T, weights.b_k).unflatten(-1, (G, -1)).transpose(0, 1)
        found.append(check("share_kv.check_pool", (k - shown.k).abs().max(), 1e-4 * largest(k), G=G))
    return found
