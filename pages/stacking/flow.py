"""How much could come through from each word if weights were the widths of pipes: attention flow."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.stacking import compute
from pages.stacking.context import StackingContext, show_maps, weights_check
from pages.stacking.rollout import mixed_by_hand, show_growth
from viz import limits
from viz.core.analysis.checks import worst
from viz.frame.checks import Check, check
from viz.frame.format import part
from viz.frame.terms.marks import say

FULL = 0.5
"""A row of flow whose least value is above this one tells the words hardly apart."""


def draw(context: StackingContext) -> list[Check]:
    """The chosen token's flow through more and more layers; and the whole map beside the rollout."""
    t, n = context.t, len(context.labels)
    if n > limits.FLOW_TOKENS:
        st.info(t("stacking.flow.long", n=n, limit=limits.FLOW_TOKENS))
        return []
    context.token_control()
    asked = context.source, context.plan, context.mask
    growth, flows = compute.flow_growth(*asked, context.query), compute.flows(*asked)
    show_growth(context, growth, key="flow")
    say(_says(context, flows[context.query]))
    show_maps(context, {"rollout": context.rollouts.through[-1], "flow": flows}, key="flow")
    mixed = mixed_by_hand(context)
    below = (context.rollouts.through[-1] - flows).max().clamp(min=0)
    beyond = (flows - torch.from_numpy(mixed[0].sum(0))).max().clamp(min=0)  # the only pipes at each word
    return [
        check("stacking.check_flow", below, 1e-5),
        check("stacking.check_capacity", beyond, 1e-5),
        check("stacking.check_few_layers", few_layers_error(growth, mixed, context.query), 1e-5),
        check("stacking.check_growth", (growth[-1] - flows[context.query]).abs().max(), 1e-5),
        weights_check(context),
    ]


def _says(context: StackingContext, row: Tensor) -> str:
    """How much the pipes still limit, if more than one layer has any, and the mask leaves a way from every word."""
    t, low, closed = context.t, float(row.min()), int((row == 0).sum())
    if closed:
        return t("stacking.flow.closed", n=closed, words=len(row), layers=context.layers(context.depth))
    if context.depth == 1:
        return t("stacking.flow.one")
    return t("stacking.flow.full" if low > FULL else "stacking.flow.shows", low=part(low))


def few_layers_error(growth: Tensor, mixed: np.ndarray, query: int) -> float:
    """How far the flow through one layer is from the weight itself, and through two from the sum of narrower pipes.

    Between two layers stands each word once: of the two pipes at it, the narrower one says how much comes through.
    """
    by_hand = [mixed[0, query]]
    if len(mixed) > 1:
        by_hand.append(np.minimum(mixed[1, query][:, None], mixed[0]).sum(0))
    return worst(float(np.abs(growth[i].numpy() - flows).max()) for i, flows in enumerate(by_hand))
