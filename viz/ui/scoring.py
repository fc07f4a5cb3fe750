"""Other ways to score a pair, and widths that differ: the middle of the page Two sequences."""

from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz.core.attention import row_softmax
from viz.core.checks import largest
from viz.core.cost import attention_flops, parameters
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head, share_kv
from viz.core.measures import entropy
from viz.core.scoring import AdditiveWeights, Scoring, additive, dot, scorings
from viz.core.spec import AttentionSpec
from viz.figures.palette import BLUE, ORANGE
from viz.models.places import first
from viz.models.tokens import seeded_embeddings
from viz.ui import limits, state
from viz.ui.controls import KEEP
from viz.ui.layout import check
from viz.ui.two_sequences import Meeting
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount

FORMULAS = {
    "dot": r"s_{ij} = q_i \cdot k_j",
    "scaled_dot": r"s_{ij} = q_i \cdot k_j / \sqrt{d_k}",
    "additive": r"s_{ij} = w_v^\top \tanh(W_q^\top q_i + W_k^\top k_j)",
}
HIDDEN = (1, 2, 4, 8, 16, 32, 64)
WIDTHS = ("d_model", "d_memory", "d_head", "d_value", "d_output")


def _say_cut(meeting: Meeting) -> None:
    """Say so where a text is longer than what is scored."""
    if max(meeting.n_queries, meeting.n_keys) > limits.SCORED_TOKENS:
        st.caption(meeting.cross.t("two_sequences.first", n=limits.SCORED_TOKENS))


def side_by_side(meeting: Meeting, head: int) -> None:
    """Three functions on the same queries and keys: formulas, maps under one scale, and what each one takes."""
    t, trace = meeting.cross.t, meeting.cross.trace
    columns = st.columns(2)
    d_hidden = state.pick("hidden", 16, HIDDEN)
    columns[0].select_slider(t("two_sequences.hidden"), HIDDEN, key="hidden", persist_state=KEEP)
    seed = state.whole("score_seed", 0, 0, 999)
    columns[1].number_input(t("two_sequences.score_seed"), 0, 999, key="score_seed", persist_state=KEEP)
    n = limits.SCORED_TOKENS
    q, k = trace.q[head, :n], share_kv(trace.k, trace.q.shape[0])[head, :n]
    weights = AdditiveWeights.random(q.shape[-1], k.shape[-1], d_hidden, seed=seed)
    ways = scorings(d_q=q.shape[-1], d_k=k.shape[-1], n_queries=len(q), n_keys=len(k), weights=weights)
    with torch.inference_mode():
        scores = {name: way.score(q, k) for name, way in ways.items()}
    meeting.checks.append(
        check("two_sequences.check_dot", (scores["dot"] - trace.scores[head, :n, :n]).abs().max(),
              1e-5 * largest(trace.scores))
    )  # fmt: skip
    _say_cut(meeting)
    _maps(meeting, scores)
    for name, formula in FORMULAS.items():
        st.latex(rf"\text{{{t(f'two_sequences.score_{name}')}:}}\quad {formula}")
    rows = [_costs(name, way, scores[name], t) for name, way in ways.items()]
    titles = {key: st.column_config.Column(t(f"two_sequences.column_{key}")) for key in rows[0]}
    st.dataframe(rows, column_config=titles, hide_index=True, height="content", key="scores")
    st.caption(
        t("two_sequences.scores_note", d=q.shape[-1], a=d_hidden, Q=len(q), K=len(k), scale=f"{trace.scale:.4g}")
    )


def _costs(name: str, way: Scoring, scores: Tensor, t: Any) -> dict[str, Any]:
    weights = row_softmax(scores)
    return {
        "function": t(f"two_sequences.score_{name}"), "parameters": way.parameters, "flops": way.flops.total,
        "tanhs": way.tanhs, "held": way.held, "range": f"{float(scores.min()):.2f} … {float(scores.max()):.2f}",
        "entropy": round(float(entropy(weights).mean()), 3),
    }  # fmt: skip


def _maps(meeting: Meeting, scores: dict[str, Tensor]) -> None:
    t, n = meeting.cross.t, limits.SCORED_TOKENS
    queries, keys = meeting.cross.capture.queries.labels[:n], meeting.cross.capture.tokens.labels[:n]
    panels = [
        Panel(code=name, title=(title := t(f"two_sequences.score_{name}")), alt=title, labels=queries, columns=keys)
        for name in scores
    ]
    packed = pack_maps(
        panels, row_softmax(torch.stack(list(scores.values()))), what="weights", limit=1.0, gutter=True,
        words={"says": t("two_sequences.says"), "axes": t("two_sequences.axes")},
        hues={"positive": BLUE, "negative": ORANGE},
    )  # fmt: skip
    mount("maps", key="score_maps", data=packed)


def _chosen_widths(meeting: Meeting) -> AttentionSpec:
    t, usual = meeting.cross.t, {"d_model": 10, "d_memory": 7, "d_head": 4, "d_value": 5, "d_output": 3}
    columns, sizes = st.columns(len(WIDTHS) + 1), {}
    for column, name in zip(columns, WIDTHS, strict=False):
        sizes[name] = state.whole(f"two_{name}", usual[name], 1, 64)
        column.number_input(t(f"two_sequences.width_{name}"), 1, 64, key=f"two_{name}", persist_state=KEEP)
    heads = state.whole("two_heads", 2, 1, 16)
    columns[-1].number_input(t("two_sequences.width_heads"), 1, 16, key="two_heads", persist_state=KEEP)
    return AttentionSpec(n_heads=heads, **sizes)


def widths(meeting: Meeting) -> None:
    """Queries and keys must agree in width, and nothing else has to: the shapes are read off what was computed."""
    t, n = meeting.cross.t, limits.SCORED_TOKENS
    spec = _chosen_widths(meeting)
    queries, keys = (first(one, n) for one in (meeting.cross.capture.queries, meeting.cross.capture.tokens))
    x, memory = seeded_embeddings(queries.ids, spec.d_model, 0), seeded_embeddings(keys.ids, spec.d_mem, 0)
    weights = HeadWeights.random(spec, seed=0)
    with torch.inference_mode():
        trace = multi_head(x, memory, weights)
    shapes = {name: tuple(value.shape) for name, value in _named(trace).items()}
    rows = [
        {"name": name, "means": t(f"two_sequences.shape_{code}"), "shape": " × ".join(map(str, shapes[name]))}
        for name, code in MEANS.items()
    ]
    titles = {key: st.column_config.Column(t(f"two_sequences.column_{key}")) for key in rows[0]}
    st.dataframe(rows, column_config=titles, hide_index=True, height="content", key="shapes")
    _say_cut(meeting)
    cost = parameters(spec)
    flops = attention_flops(spec, n_queries=len(x), n_keys=len(memory))
    st.markdown(t("two_sequences.widths_cost", parameters=f"{cost.total:,}", flops=f"{flops.total:,}"))
    meeting.checks.append(check("two_sequences.check_widths", abs(cost.total - weights.n_parameters()), 0))
    _without_projections(meeting, x, memory)


MEANS = {
    "X": "x", "M": "memory", "W_Q": "w_q", "W_K": "w_k", "W_V": "w_v", "W_O": "w_o", "Q": "q", "K": "k", "V": "v",
    "A": "weights", "Z": "head_outputs", "Y": "output",
}  # fmt: skip


def _named(trace: MultiHeadTrace) -> dict[str, Tensor]:
    of_weights = {"w_q", "w_k", "w_v", "w_o"}
    return {
        name: getattr(trace.projections if code in of_weights else trace, code) for name, code in MEANS.items()
    }  # fmt: skip


def _without_projections(meeting: Meeting, x: Tensor, memory: Tensor) -> None:
    """X and M as they are, without W_Q and W_K: a dot product may be impossible, the additive score never is."""
    t = meeting.cross.t
    try:
        found = tuple(dot(x, memory).shape)
        st.markdown(t("two_sequences.bare_dot", shape=" × ".join(map(str, found))))
    except ValueError:
        st.info(t("two_sequences.bare_no_dot", q=x.shape[-1], k=memory.shape[-1]))
    hidden = AdditiveWeights.random(x.shape[-1], memory.shape[-1], 4, seed=0)
    shape = tuple(additive(x, memory, hidden).shape)
    st.markdown(t("two_sequences.bare_additive", shape=" × ".join(map(str, shape)), q=x.shape[-1], k=memory.shape[-1]))
