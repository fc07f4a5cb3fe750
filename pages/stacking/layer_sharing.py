"""Layers that share their weights: the savings, the effect on the tokens, and whether small decoders still learn."""

import streamlit as st
import torch
from torch import Tensor

from pages.stacking import compute, trained_sharing
from pages.stacking.compute import Sharing
from pages.stacking.context import WIDTH, StackingContext
from viz.components.bars import BarChart
from viz.core.experts import ExpertsTrace
from viz.figures.curves import Curve, depth
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import blocks
from viz.frame.modes import say
from viz.frame.show import show_bars, show_lines
from viz.params import Int

SETS = Int("sets", lambda n_layers: n_layers // 2, low=1, high=lambda n_layers: n_layers)
"""Sets of weights."""


def draw(context: StackingContext) -> list[Check]:
    """Draw the parameters, work and activations of the same depth with fewer sets of weights."""
    t, n = context.t, context.depth
    traces = blocks(context.source, context.plan, context.mask)
    if len({isinstance(trace.feed_forward, ExpertsTrace) for trace in traces}) > 1:
        st.info(t("stacking.layer_sharing.unequal", model=context.source.model))
        return trained_sharing.draw(context)
    sets = SETS.read(n)
    set_counts = sorted({n, sets, 1}, reverse=True)
    variants = [compute.sharing(context.source, context.plan, context.mask, n_sets) for n_sets in set_counts]
    costs, tokens = st.columns([1, 2])
    with costs:
        _cost_picture(context, variants)
    with tokens:
        _activations(context, variants)
    help_text = t("stacking.layer_sharing.sets_help")
    SETS.slider(t("stacking.layer_sharing.sets"), n, help=help_text, width=WIDTH)
    say(t("stacking.layer_sharing.shows"))
    st.caption(t("stacking.layer_sharing.mechanism"))
    return [*_checks(context, variants), *trained_sharing.draw(context)]


def _name(sharing: Sharing) -> str:
    return f"S = {sharing.n_sets}"


def _cost_picture(context: StackingContext, variants: list[Sharing]) -> None:
    t = context.t
    series = {
        t(f"stacking.layer_sharing.{code}"): torch.tensor([100.0 * cost / costs[0] for cost in costs])
        for code, costs in {
            "parameters": [sharing.parameters for sharing in variants],
            "work": [sharing.flops for sharing in variants],
        }.items()
    }
    title, share = t("stacking.layer_sharing.sets"), t("stacking.layer_sharing.share")
    chart = BarChart(
        [str(sharing.n_sets) for sharing in variants], series, title=title, value_title=share, top=105.0, height=260
    )
    show_bars(chart, key="sharing_costs", alt=share)


def _activations(context: StackingContext, variants: list[Sharing]) -> None:
    t = context.t
    # A single token has no cosine.
    codes = ("cosine", "length") if len(context.labels) > 1 else ("length",)
    for column, code in zip(st.columns(len(codes)), codes, strict=True):
        curves = [Curve(name=_name(stack), values=getattr(stack.similarity, code)) for stack in variants]
        title = t(f"stacking.{code}")
        with column:
            fig = depth(curves, x_title=t("stacking.after_layer"), y_title=title)
            alt = t("stacking.depth_alt", what=title, layers=context.layers(context.depth))
            show_lines(fig, key=f"sharing_{code}", alt=alt)


def flops_by_formula(context: StackingContext) -> int:
    """Return two operations per matrix entry and token, and for QKᵀ and AV two per pair of tokens and column."""
    total = 0
    for trace in blocks(context.source, context.plan, context.mask):
        heads, n = trace.weights.attention, len(trace.x)
        learned = [*vars(heads).values(), *trace.weights.feed_forward.active_tensors]
        total += 2 * n * sum(value.numel() for value in learned if isinstance(value, Tensor) and value.ndim == 2)
        total += 2 * n * n * heads.spec.H * (heads.spec.d_k + heads.spec.d_v)
    return total


def _checks(context: StackingContext, variants: list[Sharing]) -> list[Check]:
    checks = [check("stacking.check_counted", abs(variants[0].flops - flops_by_formula(context)), 0.0)]
    if len(variants) > 1:
        single = variants[-1].parameters
        checks += [
            check("stacking.check_flops", max(abs(sharing.flops - variants[0].flops) for sharing in variants), 0.0),
            check("stacking.check_sets", max(abs(stack.parameters - stack.n_sets * single) for stack in variants), 0.0),
        ]
    return checks
