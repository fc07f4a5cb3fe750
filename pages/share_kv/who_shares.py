"""Groups that share keys and values, and the classic mistake: sharing them out in the wrong order."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from pages.share_kv.context import ShareKvContext, beside_groups, say_cut, say_whose_numbers
from pages.share_kv.pack import pack_sharing
from viz import limits
from viz.components.view import View
from viz.core.analysis.checks import added_to_scores, largest, rounding
from viz.core.heads import MultiHeadTrace, share_kv
from viz.core.variants.kv_sharing import attend_mqa, kv_head_of, repeat_kv
from viz.frame.checks import Check, attention_checks, check
from viz.frame.format import at_most
from viz.params import Flag

MISTAKE = Flag("mistake")
"""Share keys and values out in the wrong order."""

SHARING = View("share_kv/sharing", words="share_kv.picture.", colours=True)


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the brackets; below them a switch that shares keys and values out in the wrong order."""
    t, picture = context.t, beside_groups(context)
    mistake = MISTAKE.toggle(t("share_kv.mistake"), help=t("share_kv.mistake_help"))
    layer = context.with_kv_heads(context.n_kv_heads, mistake=True) if mistake else context.layer
    reads = kv_head_of(context.spec.H, context.n_kv_heads, repeat_kv if mistake else share_kv)
    with picture:
        _brackets(context, layer, reads)
    if mistake:
        _say_mistake(context, layer, reads)
    return _checks(context, layer)


def _brackets(context: ShareKvContext, layer: MultiHeadTrace, reads: list[int]) -> None:
    """Draw a bracket for each key/value head: its K and V, and the attention of its query heads."""
    t, scene, spec = context.t, context.scene, context.spec
    n = min(len(scene.labels), limits.SHARED_TOKENS)
    data = pack_sharing(layer.k[:, :n], layer.v[:, :n], layer.weights[:, :n, :n], reads=reads, labels=scene.labels[:n])
    SHARING.mount(key="share_picture", data=data)
    say_cut(context)
    st.text(t("share_kv.shapes", H=spec.H, G=spec.G, n=len(scene.labels), d_k=spec.d_k, d_v=spec.d_v))
    are_paired = reads == kv_head_of(spec.H, spec.G, share_kv)
    say_whose_numbers(context, are_paired=are_paired)


def _say_mistake(context: ShareKvContext, layer: MultiHeadTrace, reads: list[int]) -> None:
    """Describe the mistake: the number of wrong heads, and the change of the output."""
    H, G = context.spec.H, context.n_kv_heads
    wrong = sum(read != i * G // H for i, read in enumerate(reads))
    off = float((layer.output - context.layer.output).abs().max())
    st.warning(context.t("share_kv.mistake_found", wrong=wrong, H=H, off=at_most(off)))


def head_by_head(layer: MultiHeadTrace, **options: Any) -> Tensor:
    """Return the layer's output by a loop over heads, each by torch's own function.

    Args:
        layer: a layer with as many key/value heads as query heads.
        options: of its attention, as in ``attend``; without a scale torch uses its own, 1/sqrt(d_k).
    """
    added = _added(layer, options).expand_as(layer.weights)
    outputs = [
        scaled_dot_product_attention(q[None], k[None], v[None], mask[None], scale=options.get("scale"))[0]
        for q, k, v, mask in zip(layer.q, layer.k, layer.v, added, strict=True)
    ]
    return linear(torch.cat(outputs, -1), layer.projections.w_o.T, layer.projections.b_o)


def _added(layer: MultiHeadTrace, options: Mapping[str, Any]) -> Tensor:
    """Return the term between the scaled scores and the softmax; zeros if there is none."""
    added = added_to_scores(layer.q, layer.k, **options)
    return torch.zeros(layer.weights.shape[-2:]) if added is None else added


def _checks(context: ShareKvContext, layer: MultiHeadTrace) -> list[Check]:
    """Check the layer as shown: with the mistake switched on the checks must fail."""
    options, G, H = context.layer_options, context.n_kv_heads, context.spec.H
    checks, added = attention_checks(layer, **options), _added(layer, options)
    share = rounding(layer.q, layer.k, options.get("scale"))
    if G == H:
        off = (head_by_head(layer, **options) - layer.output).abs().max()
        checks.append(check("share_kv.check_mha", off, share * largest(layer.output)))
    if G == 1 and bool(added.isfinite().any(-1).all()):
        alone = attend_mqa(layer.q, layer.k[0], layer.v[0], masked_by=added, scale=options.get("scale"))
        off = (alone - layer.head_outputs).abs().max()
        checks.append(check("share_kv.check_mqa", off, share * largest(layer.head_outputs)))
    # RoPE rotates k after its projection, so that k is not X W_K.
    if not context.scene.call.is_changed:
        weights = layer.projections
        k = linear(layer.memory, weights.w_k.T, weights.b_k).unflatten(-1, (G, -1)).transpose(0, 1)
        checks.append(check("share_kv.check_pool", (k - layer.k).abs().max(), 1e-4 * largest(k), G=G))
    return checks
