"""A trained layer with fewer key/value heads by averaging, and the change of its attention."""

import math

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.share_kv import compute
from pages.share_kv.context import ShareKvContext, beside_groups, choose_head, map_pair, say_cut
from viz import limits
from viz.components.bars import BarChart
from viz.core.analysis.checks import added_to_scores
from viz.core.analysis.map_statistics import total_variation, uniform
from viz.core.heads import MultiHeadTrace
from viz.core.variants.kv_sharing import divisors
from viz.frame.checks import Check, check
from viz.frame.format import part
from viz.frame.modes import say
from viz.frame.show import show_bars


def draw(context: ShareKvContext) -> list[Check]:
    """Draw one head before and after, then the change of all heads."""
    t = context.t
    if not context.is_model or context.kv_heads_before == 1:
        st.info(t(f"share_kv.convert_{'one' if context.is_model else 'model'}"))
        return []
    picture = beside_groups(context)
    head = choose_head(context, context.spec.H)
    with picture:
        _before_after(context, head)
    choice = context.scene.choice
    groups = divisors(context.kv_heads_before)
    variations = {g: compute.variation_by_head(choice.source, choice.layer, choice.mask, g) for g in groups}
    _say_how_far(context, variations)
    _bars(context, variations)
    return _checks(context, head, variations[context.n_kv_heads])


def _before_after(context: ShareKvContext, head: int) -> None:
    t, scene = context.t, context.scene
    n = min(len(scene.labels), limits.SHARED_TOKENS)
    titles = [
        t("share_kv.before", head=head, own=context.kv_heads_before),
        t("share_kv.after", head=head, G=context.n_kv_heads),
    ]
    maps = torch.stack([scene.trace.weights[head], context.layer.weights[head]])[:, :n, :n]
    map_pair(t, titles, maps, scene.labels[:n], key="converted")
    say_cut(context)


def _say_how_far(context: ShareKvContext, variations: dict[int, Tensor]) -> None:
    """Describe the moved weight, and two numbers to judge it by."""
    t, G, before = context.t, context.n_kv_heads, context.kv_heads_before
    say(t("share_kv.convert_found", G=G, own=before, far=part(float(variations[G].mean()))))
    pairs, even = _yardsticks(context.scene.trace)
    st.caption(t("share_kv.convert_scale", pairs=part(pairs), even=part(even)))


def _yardsticks(before: MultiHeadTrace) -> tuple[float, float]:
    """Return mean distances: between two heads of the layer, and from a head to an even spread."""
    weights, H = before.weights, len(before.weights)
    between = sum(float(total_variation(weights, second.expand(H, -1, -1)).mean()) for second in weights)
    pairs = between / (H - 1) if H > 1 else 0.0
    even = uniform(before.masked.isfinite().any(0))
    return pairs, float(total_variation(weights, even.expand(H, -1, -1)).mean())


def _bars(context: ShareKvContext, variations: dict[int, Tensor]) -> None:
    """Draw for every G the mean over all heads; for the selected G each head."""
    t, G = context.t, context.n_kv_heads
    by_group, by_head = st.columns(2)
    with by_group:
        means = torch.stack([values.mean() for values in variations.values()])
        chart = BarChart(
            [f"G = {g}" for g in variations],
            {t("share_kv.far"): means},
            title=t("share_kv.groups"),
            value_title=t("share_kv.far"),
            top=1.0,
        )
        show_bars(chart, key="far_g", alt=t("share_kv.far_group"))
    with by_head:
        heads = [str(i) for i in range(context.spec.H)]
        chart = BarChart(
            heads, {t("share_kv.far"): variations[G]}, title=t("share_kv.head"), value_title=t("share_kv.far"), top=1.0
        )
        show_bars(chart, key="far_head", alt=t("share_kv.far_head", G=G))


def by_numpy(context: ShareKvContext, head: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one head's weights as trained, and with its group's mean key, in float64 from the source's q and k."""
    before, after = context.scene.trace, context.layer
    q, options = before.q[head].double().numpy(), context.layer_options
    keys = before.k.double().numpy()
    H, G, before_g = context.spec.H, context.n_kv_heads, len(keys)
    group = head * G // H
    mean_key = keys[group * before_g // G : (group + 1) * before_g // G].mean(0)

    def weights(key: np.ndarray, trace: MultiHeadTrace) -> np.ndarray:
        scores = q @ key.T * (options.get("scale") or 1 / math.sqrt(q.shape[-1]))
        if (added := added_to_scores(trace.q, trace.k, **options)) is not None:
            scores = scores + added.expand_as(trace.weights)[head].double().numpy()
        top = scores.max(-1, keepdims=True)
        shares = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
        return shares / np.maximum(shares.sum(-1, keepdims=True), 1e-300)

    return weights(keys[head * before_g // H], before), weights(mean_key, after)


def _checks(context: ShareKvContext, head: int, variation: Tensor) -> list[Check]:
    was, now = by_numpy(context, head)
    off = np.abs(now - context.layer.weights[head].numpy()).max()
    distance = np.abs(was - now).sum(-1).mean() / 2
    return [
        check("share_kv.check_converted", off, 1e-4, head=head),
        check("share_kv.check_moved", abs(distance - float(variation[head])), 1e-4, head=head),
    ]
