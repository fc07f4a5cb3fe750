"""Self-attention beside cross-attention: their differences in the numbers of these two texts."""

from typing import Any

import streamlit as st

from pages.two_sequences.compute import self_attention_error
from pages.two_sequences.context import TwoSequencesContext
from viz import limits
from viz.components.maps import show_maps
from viz.core.cost.attention import attention_flops, parameters
from viz.core.cost.counting import FlopCounterMode
from viz.core.heads import HeadWeights
from viz.frame.checks import Check, check
from viz.frame.scene import Scene

ROWS = ("q", "kv", "map", "parameters", "flops", "mask", "for", "where")


def draw(context: TwoSequencesContext) -> list[Check]:
    """Draw a square and a rectangle of the same head, and a table of the differences."""
    t = context.t
    n_queries, n_keys = context.cross.trace.weights.shape[-2:]
    # The share gives both maps the same cell size.
    share = min(2.0, max(n_queries, n_keys) / n_queries)
    for column, name in zip(st.columns([1, share]), ("target", "cross"), strict=True):
        with column:
            _map(context, name)
    if context.is_cut:
        st.caption(t("two_sequences.first", n=limits.SCORED_TOKENS))
    st.markdown(_table(context))
    layer = context.source.choice.layer
    projections = (context.target.trace.projections, context.cross.trace.projections)
    checks = [check("two_sequences.check_parameters", max(map(miscounted, projections)), 0)]
    checks.append(check("two_sequences.check_flops", max(map(flops_error, (context.target, context.cross))), 0))
    # Changed queries and keys are not X W_Q and M W_K.
    if not context.source.capture.calls[layer].is_changed:
        error = self_attention_error(context.source.choice.source, layer)
        checks.append(check("two_sequences.check_self", error, 1e-5))
    return checks


def miscounted(weights: HeadWeights) -> int:
    """Return the difference between the parameter formula and the entries of the four matrices."""
    matrices = (weights.w_q, weights.w_k, weights.w_v, weights.w_o)
    return abs(parameters(weights.spec).total - sum(matrix.numel() for matrix in matrices))


def flops_error(scene: Scene) -> int:
    """Return the difference between the operation formula and torch's own counter on the six matrix products."""
    trace, weights, H = scene.trace, scene.trace.projections, scene.trace.projections.spec.H
    products = (
        (trace.x, weights.w_q),
        (trace.memory, weights.w_k),
        (trace.memory, weights.w_v),
        (trace.q, trace.k.repeat_interleave(H // len(trace.k), 0).mT),
        (trace.weights, trace.v.repeat_interleave(H // len(trace.v), 0)),
        (trace.concat, weights.w_o),
    )
    with FlopCounterMode(display=False) as counter:
        for left, right in products:
            # Of shapes alone nothing is multiplied.
            left.to("meta") @ right.to("meta")
    n_queries, n_keys = trace.weights.shape[-2:]
    formula = attention_flops(weights.spec, n_queries=n_queries, n_keys=n_keys).total
    return abs(formula - int(counter.get_total_flops()))


def _map(context: TwoSequencesContext, name: str) -> None:
    """Draw the head's map of the target on itself, or on the source."""
    t, scene, n = context.t, getattr(context, name), limits.SCORED_TOKENS
    title = t(f"two_sequences.title_{name}", layer=scene.layer_number, head=context.head)
    rows, columns = (tokens.labels[:n] for tokens in (scene.capture.queries, scene.capture.tokens))
    weights = scene.trace.weights[context.head, :n, :n][None]
    show_maps(t, [title], weights, rows, columns=columns, key=f"map_{name}", axes="")


def _table(context: TwoSequencesContext) -> str:
    t, alone, cross = context.t, _sizes(context.target), _sizes(context.cross)
    heads = (t(f"two_sequences.row_{column}") for column in ("what", "self", "cross"))
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|"]
    for row in ROWS:
        states = "_trained" if row == "q" and context.is_trained else ""
        cells = (t(f"two_sequences.self_{row}", **alone), t(f"two_sequences.cross_{row}{states}", **cross))
        lines.append(f"| **{t(f'two_sequences.row_{row}')}** | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def _sizes(scene: Scene) -> dict[str, Any]:
    trace = scene.trace
    spec, (n_queries, n_keys) = trace.projections.spec, trace.weights.shape[-2:]
    return {
        "Q": n_queries,
        "K": n_keys,
        "q": " × ".join(map(str, trace.q.shape)),
        "k": " × ".join(map(str, trace.k.shape)),
        "v": " × ".join(map(str, trace.v.shape)),
        "cells": f"{n_queries * n_keys:,}",
        "parameters": f"{parameters(spec).total:,}",
        "flops": f"{attention_flops(spec, n_queries=n_queries, n_keys=n_keys).total:,}",
    }
