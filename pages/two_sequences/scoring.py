"""Three scoring functions for a pair of query and key, on the same queries and keys."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.two_sequences.context import TwoSequencesContext
from viz import limits
from viz.components.maps import show_maps
from viz.core.analysis.checks import largest, worst
from viz.core.analysis.map_statistics import entropy
from viz.core.attention import row_softmax
from viz.core.heads import share_kv
from viz.core.variants.scoring import AdditiveWeights, Scoring, scorings
from viz.frame.checks import Check, check
from viz.frame.format import number, span
from viz.frame.show import show_table
from viz.params import Int
from viz.text import Translate

FORMULAS = {
    "dot": r"s_{ij} = q_i \cdot k_j",
    "scaled_dot": r"s_{ij} = q_i \cdot k_j / \sqrt{d_k}",
    "additive": r"s_{ij} = w_v^\top \tanh(W_q^\top q_i + W_k^\top k_j)",
}
HIDDEN = Int("hidden", 16, among=(1, 2, 4, 8, 16, 32, 64))
SCORE_SEED = Int("score_seed", high=999)


def draw(context: TwoSequencesContext) -> list[Check]:
    """Draw a map for each function, all on one scale, and each function's cost."""
    t, trace, n, head = context.t, context.cross.trace, limits.SCORED_TOKENS, context.head
    pictures = st.container()
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        d_hidden = HIDDEN.select_slider(t("two_sequences.hidden"), width=320)
        seed = SCORE_SEED.number_input(t("two_sequences.score_seed"), width=240)
    q, k = trace.q[head, :n], share_kv(trace.k, trace.q.shape[0])[head, :n]
    weights = AdditiveWeights.random(q.shape[-1], k.shape[-1], d_hidden, seed=seed)
    ways = scorings(d_q=q.shape[-1], d_k=k.shape[-1], n_queries=len(q), n_keys=len(k), weights=weights)
    with torch.inference_mode():
        scores = {name: way.score(q, k) for name, way in ways.items()}
    with pictures:
        _maps(context, scores)
        if context.is_cut:
            st.caption(t("two_sequences.first", n=n))
    rows = [_costs(name, way, scores[name], t) for name, way in ways.items()]
    titles = {key: st.column_config.Column(t(f"two_sequences.column_{key}")) for key in rows[0]}
    show_table(rows, column_config=titles, height="content", key="scores")
    sizes = {"layer": context.cross.layer_number, "head": head, "d": q.shape[-1], "a": d_hidden, "Q": len(q)}
    st.caption(t("two_sequences.scores_note", **sizes, K=len(k), scale=number(trace.scale, 3)))
    own_off = (scores["dot"] - trace.scores[head, :n, :n]).abs().max()
    return [
        check("two_sequences.check_dot", own_off, 1e-5 * largest(trace.scores)),
        check("two_sequences.check_formulas", formulas_error(q, k, weights, scores), 1e-5),
    ]


def formulas_error(q: Tensor, k: Tensor, weights: AdditiveWeights, scores: Mapping[str, Tensor]) -> float:
    """Return the largest relative error of the scores against the three formulas in numpy's float64."""
    queries, keys = q.double().numpy(), k.double().numpy()
    w_q, w_k, w_v = (matrix.double().numpy() for matrix in (weights.w_q, weights.w_k, weights.w_v))
    dots = np.einsum("id,jd->ij", queries, keys)
    mixed = np.tanh(np.einsum("id,da->ia", queries, w_q)[:, None] + np.einsum("jd,da->ja", keys, w_k)[None])
    references = {
        "dot": dots,
        "scaled_dot": dots / np.sqrt(queries.shape[1]),
        "additive": np.einsum("ija,a->ij", mixed, w_v),
    }
    return worst(
        float(np.abs(values - scores[name].double().numpy()).max() / largest(scores[name]))
        for name, values in references.items()
    )


def draw_formulas(context: TwoSequencesContext) -> None:
    """Draw the three functions, each with its name."""
    for name, formula in FORMULAS.items():
        st.latex(rf"\text{{{context.t(f'two_sequences.score_{name}')}:}}\quad {formula}")


def _costs(name: str, way: Scoring, scores: Tensor, t: Translate) -> dict[str, Any]:
    return {
        "function": t(f"two_sequences.score_{name}"),
        "parameters": way.parameters,
        "flops": way.flops.total,
        "tanhs": way.tanhs,
        "held": way.n_stored,
        "range": span(number(float(scores.min()), 3), number(float(scores.max()), 3)),
        "entropy": round(float(entropy(row_softmax(scores)).mean()), 3),
    }


def _maps(context: TwoSequencesContext, scores: Mapping[str, Tensor]) -> None:
    t, n, capture = context.t, limits.SCORED_TOKENS, context.cross.capture
    titles = [t(f"two_sequences.score_{name}") for name in scores]
    queries, keys = capture.queries.labels[:n], capture.tokens.labels[:n]
    weights = row_softmax(torch.stack(list(scores.values())))
    show_maps(t, titles, weights, queries, columns=keys, key="score_maps", axes=t("two_sequences.axes"))
