"""Differential attention: one map minus a share of another, so that what both look at cancels."""

import streamlit as st
import torch

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.maps import show_maps
from pages.attention_today.parameters import SUBTRACTED
from viz.core.analysis.checks import sdpa_weights
from viz.core.nested import double
from viz.core.variants.today.differential import DifferentialTrace, attend_differential, initial_share
from viz.frame.checks import Check, check
from viz.frame.format import amount, number, share
from viz.frame.modes import say

DIFFERENCE = (
    r"\big(\operatorname{softmax}(Q_1 K_1^\top / \sqrt d) - "
    r"\lambda \operatorname{softmax}(Q_2 K_2^\top / \sqrt d)\big) V"
)

CODE = (attend_differential, initial_share)


def subtract(layer: Layer, head: int, other: int, lam: float) -> DifferentialTrace:
    """Attend with the map of ``head`` minus λ times that of ``other``."""
    q, k, mask = layer.q, layer.k, layer.mask_of(head)
    return attend_differential(
        q[head], k[head], q[other], k[other], layer.v[head], share=lam, allowed=mask, scale=layer.scale
    )


def draw(context: TodayContext) -> list[Check]:
    """Two maps, and one minus a share of the other, whose cells may be negative."""
    t, layer, picture, finding = context.t, context.layer, st.container(), st.container()
    H, (bias, score_mod, allowed) = len(layer.q), map(layer.options.get, ("bias", "score_mod", "allowed"))
    if H < 2 or bias is not None or score_mod is not None or (allowed is not None and allowed.ndim > 2):
        st.info(t("attention_today.difference.no_pair"))
        return []
    lam = SUBTRACTED.slider(t("attention_today.difference.lambda"), 0.5, step=0.05)
    head, other = context.head, (context.head + 1) % H
    trace = subtract(layer, head, other, lam)
    maps = torch.stack([trace.first.weights, trace.second.weights, trace.weights])
    titles = [t("attention_today.difference.map", head=place) for place in (head, other)]
    with picture:
        maps_in_browser = show_maps(
            context, [*titles, t("attention_today.difference.map_both")], maps, key="difference_maps", signed=True
        )
    rows = trace.first.weights.sum(-1)
    negative, cells = int((trace.weights < 0).sum()), int((trace.first.weights > 0).sum())
    values = {
        "sum": number(1 - lam),
        "negative": amount(negative),
        "cells": amount(cells),
        "part": share(negative / max(cells, 1)),
    }
    with finding:
        say(t("attention_today.difference.says", **values))
    start = initial_share(context.scene.layer_number)
    st.caption(t("attention_today.difference.note", start=number(start), layer=context.scene.layer_number))
    st.caption(t("attention_today.difference.users"))
    exact = double(layer)
    off = subtract(exact, head, other, 0.0).output - exact.attend().output[head]
    torchs = sdpa_weights(layer.q, layer.k, **layer.options)
    apart = torch.stack([torchs[head], torchs[other], torchs[head] - lam * torchs[other]]) - maps_in_browser
    sums = trace.weights.sum(-1) - rows * (1 - lam)
    return [
        check("attention_today.difference.check_standard", off.abs().max(), 1e-6),
        check("attention_today.difference.check_sum", sums.abs().max(), 1e-5),
        check("attention_today.difference.check_torch", apart.abs().max(), 1e-4),
    ]
