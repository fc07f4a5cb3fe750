"""How differently the heads of a layer look, and what would be lost if they all looked alike."""

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
    """The layer's output if every head used the mean of all maps; each keeps its own values."""
    values = share_kv(trace.v, trace.projections.spec.H)
    alike = trace.weights.mean(0) @ values
    return project(concat_heads(alike), trace.projections.w_o, trace.projections.b_o)


def draw(context: ManyHeadsContext) -> list[Check]:
    """A map of heads against heads, the most and the least alike, and the change if all maps are made one."""
    t, trace, names = context.t, context.scene.trace, context.names
    if context.n_heads == 1:
        st.info(t("many_heads.experts.differ.one"))
        return []
    distances = head_distances(trace.weights)
    changes = (averaged(trace) - trace.output).norm(dim=-1) / trace.output.norm(dim=-1)
    change = float(changes[changes.isfinite()].sum() / max(1, int(changes.isfinite().sum())))  # nothing written: 0 / 0
    pairs = distances + torch.diag(torch.full((context.n_heads,), torch.nan))
    far, near = (_pair(pairs, pick) for pick in (np.nanargmax, np.nanargmin))
    found = t(
        "many_heads.experts.differ.found",
        a=far[0], b=far[1], far=part(float(distances[far])),
        c=near[0], d=near[1], near=part(float(distances[near])),
    )  # fmt: skip
    drawn = Matrix(
        values=distances,
        rows=Axis(names, t("many_heads.experts.differ.heads")),
        columns=Axis(names, t("many_heads.experts.differ.heads")),
        kind="weights",
        numbers=context.n_heads <= 16,
        framed=(far[0], far[1]),
    )
    show_matrix(t, drawn, key="head_distances", alt=found)
    say(found)
    say(t("many_heads.experts.differ.averaged", n=context.n_heads, change=share(change)))
    by_einsum = torch.einsum(
        "qk,hkv,hvo->qo",
        trace.weights.double().mean(0),
        share_kv(trace.v, context.n_heads).double(),
        trace.projections.w_o.double().unflatten(0, (context.n_heads, -1)),
    )
    if trace.projections.b_o is not None:
        by_einsum = by_einsum + trace.projections.b_o
    return [
        check("many_heads.experts.differ.check_distances", _off(distances, trace.weights), 1e-5),
        check(
            "many_heads.experts.differ.check_averaged",
            (averaged(trace) - by_einsum).abs().max(),
            1e-5 * largest(trace.output),
        ),
        *scene_checks(context.scene),
    ]


def _pair(pairs: Tensor, pick: object) -> tuple[int, int]:
    row, column = np.unravel_index(pick(pairs.numpy()), pairs.shape)  # type: ignore[operator]
    return min(int(row), int(column)), max(int(row), int(column))


def _off(distances: Tensor, weights: Tensor) -> float:
    """How far the distances are from one less the attention that two heads share: the smaller of both, added up."""
    shared = torch.stack([torch.minimum(weights, other).sum(-1) for other in weights])
    whole = weights.sum(-1)  # 1, or 0 where a word may look nowhere
    expected = ((whole[None] + whole[:, None]) / 2 - shared).mean(-1)
    return float((distances - expected).abs().max())
