"""Distances between the heads of a layer, and the loss if all heads had the same map."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.many_heads.context import ManyHeadsContext
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import largest
from viz.core.analysis.several_heads import head_distances
from viz.core.heads import MultiHeadTrace, concat_heads, project, share_kv
from viz.frame.checks import Check, check, scene_checks
from viz.frame.format import part, share
from viz.frame.modes import say
from viz.frame.show import show_matrix


def averaged(trace: MultiHeadTrace) -> Tensor:
    """Return the layer's output if every head used the mean of all maps and its own values."""
    values = share_kv(trace.v, trace.projections.spec.H)
    alike = trace.weights.mean(0) @ values
    return project(concat_heads(alike), trace.projections.w_o, trace.projections.b_o)


def draw(context: ManyHeadsContext) -> list[Check]:
    """Draw a map of heads against heads, the closest and the farthest pair, and the change if all maps are averaged."""
    t, trace, names = context.t, context.scene.trace, context.names
    if context.n_heads == 1:
        st.info(t("many_heads.differ.one"))
        return []
    distances = head_distances(trace.weights)
    changes = (averaged(trace) - trace.output).norm(dim=-1) / trace.output.norm(dim=-1)
    # A fully masked row is 0 / 0.
    change = float(changes[changes.isfinite()].sum() / max(1, int(changes.isfinite().sum())))
    pairs = distances + torch.diag(torch.full((context.n_heads,), torch.nan))
    far, near = (_pair(pairs, pick) for pick in (np.nanargmax, np.nanargmin))
    summary = t(
        "many_heads.differ.found",
        a=far[0], b=far[1], far=part(float(distances[far])),
        c=near[0], d=near[1], near=part(float(distances[near])),
    )  # fmt: skip
    matrix = Matrix(
        values=distances,
        rows=Axis(names, t("many_heads.differ.heads")),
        columns=Axis(names, t("many_heads.differ.heads")),
        kind="weights",
        numbers=context.n_heads <= 16,
        framed=(far[0], far[1]),
    )
    show_matrix(t, matrix, key="head_distances", alt=summary)
    say(summary)
    say(t("many_heads.differ.averaged", n=context.n_heads, change=share(change)))
    by_einsum = torch.einsum(
        "qk,hkv,hvo->qo",
        trace.weights.double().mean(0),
        share_kv(trace.v, context.n_heads).double(),
        trace.projections.w_o.double().unflatten(0, (context.n_heads, -1)),
    )
    if trace.projections.b_o is not None:
        by_einsum = by_einsum + trace.projections.b_o
    return [
        check("many_heads.differ.check_distances", _off(distances, trace.weights), 1e-5),
        check(
            "many_heads.differ.check_averaged",
            (averaged(trace) - by_einsum).abs().max(),
            1e-5 * largest(trace.output),
        ),
        *scene_checks(context.scene),
    ]


def _pair(pairs: Tensor, pick: object) -> tuple[int, int]:
    row, column = np.unravel_index(pick(pairs.numpy()), pairs.shape)  # type: ignore[operator]
    return min(int(row), int(column)), max(int(row), int(column))


def _off(distances: Tensor, weights: Tensor) -> float:
    """Largest error of the distances, recomputed as one minus the overlap (the smaller weight, summed) of two heads."""
    shared = torch.stack([torch.minimum(weights, head).sum(-1) for head in weights])
    # The sum of a row is 1, or 0 if it is fully masked.
    total = weights.sum(-1)
    expected = ((total[None] + total[:, None]) / 2 - shared).mean(-1)
    return float((distances - expected).abs().max())
