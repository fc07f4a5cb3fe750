"""Heads with additive scores beside heads with a dot product, in one layer, with widths that may all differ."""

from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from pages.two_sequences.context import TwoSequencesContext
from viz import limits
from viz.components.maps import show_maps
from viz.core.analysis.checks import largest, rows_error, worst
from viz.core.masks import causal
from viz.core.variants.general_heads import GeneralHead, GeneralTrace, Widths, general_heads
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.models.positions import first
from viz.models.tokens import seeded_embeddings
from viz.params import Choice, Flag, Int

FORMULA = (
    r"\begin{gathered} A_i = \operatorname{softmax}\big(f_i(X W_Q^i,\; M W_K^i)\big)"
    r" \\ Z_i = A_i\, M' W_V^i, \quad Y = [Z_1, \dots, Z_H]\, W_O"
    r" \\ f(q, k) = q \cdot k / \sqrt{p_q}"
    r" \\ \text{or}\;\; f(q, k) = w^\top \tanh(W^\top q + U^\top k) \end{gathered}"
)
SIZES = tuple(Int(name, default, low=1, high=64) for name, default in (("p_q", 5), ("p_k", 3), ("p_v", 4), ("p_o", 6)))
"""Widths of the heads' vectors, and of the layer's output."""
SAME = Flag("same_p_k")
INPUT_WIDTHS = {"d_q": 10, "d_k": 7, "d_v": 8}
"""Widths of the target's vectors, and of the source's as keys and as values."""
HIDDEN, PADDING = 16, 2
KINDS, MASKS = ("dot", "additive"), ("none", "padding", "causal")
NAMES = {"dot": "two_sequences.score_scaled_dot", "additive": "two_sequences.score_additive"}
"""Keys of the names of the two kinds."""
MASK = Choice("kinds_mask", among=MASKS)
HEADS = len(KINDS)
SEED = 0


def draw(context: TwoSequencesContext) -> list[Check]:
    """Draw a map for a head of each kind, its parameters, and the shapes."""
    t, pictures = context.t, st.container()
    mask, widths, same = _controls(context)
    queries, keys, values = _tokens(context)
    visible = allowed_by(mask, len(queries), len(keys))
    heads = draw_heads(widths, same=same)
    rows = HEADS * widths.p_v
    w_o = torch.randn(rows, widths.p_o, generator=torch.Generator().manual_seed(SEED)) / rows**0.5
    with pictures:
        try:
            with torch.inference_mode():
                trace = general_heads(queries, keys, values, heads, w_o, allowed=visible)
        except ValueError as error:
            st.code(f"ValueError: {error}", language=None)
            say(t("two_sequences.kinds.refused", p_q=widths.p_q, p_k=widths.p_k))
            return []
        _maps(context, trace)
        _say(context, trace, heads)
    st.markdown(_table(context, trace, heads, widths))
    sizes = {"Q": len(queries), "h": HEADS, "rows": rows, "p_o": widths.p_o}
    say(t("two_sequences.kinds.joined", **sizes))
    return _checks(queries, keys, values, heads, w_o, visible, trace)


def _controls(context: TwoSequencesContext) -> tuple[str, Widths, bool]:
    t = context.t
    mask = MASK.segments(t("two_sequences.kinds.mask"), says=lambda code: t(f"two_sequences.kinds.mask_{code}"))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        p = {size.name: size.number_input(t(f"two_sequences.kinds.{size.name}"), width=150) for size in SIZES}
        same = SAME.toggle(t("two_sequences.kinds.same"))
    return mask, Widths(**p, **INPUT_WIDTHS, d_hidden=HIDDEN), same


def _tokens(context: TwoSequencesContext) -> tuple[Tensor, Tensor, Tensor]:
    """Return seeded vectors of the target's words, and two sets of the source's."""
    n, capture = limits.SCORED_TOKENS, context.cross.capture
    asks, answers = first(capture.queries, n).ids, first(capture.tokens, n).ids
    sides = ((asks, "d_q"), (answers, "d_k"), (answers, "d_v"))
    queries, keys, values = (seeded_embeddings(ids, INPUT_WIDTHS[name], seed) for seed, (ids, name) in enumerate(sides))
    return queries, keys, values


def allowed_by(mask: str, n_queries: int, n_keys: int) -> Tensor | None:
    """Return True where a query may attend: everywhere (None), not to the source's last two tokens, or not ahead."""
    if mask == "none":
        return None
    if mask == "causal":
        return causal(n_queries, n_keys)
    return (torch.arange(n_keys) < n_keys - PADDING).expand(n_queries, -1)


def draw_heads(widths: Widths, *, same: bool) -> tuple[GeneralHead, ...]:
    """Return a head of each kind; a dot product's keys have the width of its queries unless all heads use p_k."""
    for_dot = widths if same else Widths(**vars(widths) | {"p_k": widths.p_q})
    return tuple(
        GeneralHead.random(for_dot if kind == "dot" else widths, is_additive=kind == "additive", seed=SEED + i)
        for i, kind in enumerate(KINDS)
    )


def _maps(context: TwoSequencesContext, trace: GeneralTrace) -> None:
    t, n, capture = context.t, limits.SCORED_TOKENS, context.cross.capture
    rows, columns = capture.queries.labels[:n], capture.tokens.labels[:n]
    titles = [t("two_sequences.kinds.title_head", head=head, kind=t(NAMES[kind])) for head, kind in enumerate(KINDS)]
    show_maps(t, titles, trace.weights, rows, columns=columns, key="kinds_maps", axes=t("two_sequences.axes"))
    if context.is_cut:
        st.caption(t("two_sequences.first", n=n))


def _say(context: TwoSequencesContext, trace: GeneralTrace, heads: tuple[GeneralHead, ...]) -> None:
    """Describe the scores of both kinds, their bounds, and the distance between a head's rows."""
    t, visible = context.t, trace.masked.isfinite()
    if not visible.any():
        return
    (network,) = [head.additive for head in heads if head.additive]
    visible_scores = [scores[cells] for scores, cells in zip(trace.scores, visible, strict=True)]
    top = {
        kind: number(float(scores[scores.abs().argmax()])) for kind, scores in zip(KINDS, visible_scores, strict=True)
    }
    say(t("two_sequences.kinds.found", limit=number(float(network.w_v.abs().sum())), **top))
    rows = [weights[cells.any(-1)] for weights, cells in zip(trace.weights, visible, strict=True)]
    if len(rows[0]) > 1:
        apart = {kind: part(rows_apart(weights)) for kind, weights in zip(KINDS, rows, strict=True)}
        say(t("two_sequences.kinds.apart", **apart))


def rows_apart(weights: Tensor) -> float:
    """Return the share of weight that two rows of a map place differently, averaged over all pairs; 0 for one row."""
    Q = len(weights)
    return float(torch.cdist(weights, weights, p=1).sum() / 2 / max(1, Q * (Q - 1)))


def _table(context: TwoSequencesContext, trace: GeneralTrace, heads: tuple[GeneralHead, ...], widths: Widths) -> str:
    """Draw the shapes of a head of each kind, as rows times matrices, and its number of parameters."""
    t = context.t
    Q = trace.weights.shape[1]
    cells: dict[str, list[Any]] = {name: [] for name in ("w_q", "w_k", "w_v", "scoring", "output", "learned")}
    for head in heads:
        cells["w_q"].append(_times(head.w_q))
        cells["w_k"].append(_times(head.w_k))
        cells["w_v"].append(_times(head.w_v))
        network = head.additive and {"W": _times(head.additive.w_q), "U": _times(head.additive.w_k), "a": HIDDEN}
        cells["scoring"].append(t("two_sequences.kinds.network", **network) if network else "–")
        cells["output"].append(f"{Q} × {widths.p_v}")
        cells["learned"].append(f"{head.n_parameters():,}")
    names = [t("two_sequences.kinds.shapes"), *(t(NAMES[kind]) for kind in KINDS)]
    lines = [f"| {' | '.join(names)} |", "|---|---|---|"]
    for name, values in cells.items():
        row = t(f"two_sequences.kinds.row_{name}")
        lines.append(f"| {row} | {' | '.join(map(str, values))} |")
    return "\n".join(lines)


def _times(matrix: Tensor) -> str:
    return " × ".join(map(str, matrix.shape))


def in_columns(
    queries: Tensor, keys: Tensor, values: Tensor, head: GeneralHead, allowed: Tensor | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a head's weights and output in column notation, W q for each word by itself, in numpy's float64."""
    w_q, w_k, w_v = (w.double().numpy().T for w in (head.w_q, head.w_k, head.w_v))
    k, v = ([w @ x for x in of.double().numpy()] for w, of in ((w_k, keys), (w_v, values)))
    weights, outputs = [], []
    for i, x in enumerate(queries.double().numpy()):
        q = w_q @ x
        if head.additive is None:
            scores = np.array([q @ key / len(q) ** 0.5 for key in k])
        else:
            w, u, last = (part.double().numpy() for part in (head.additive.w_q, head.additive.w_k, head.additive.w_v))
            scores = np.array([last @ np.tanh(w.T @ q + u.T @ key) for key in k])
        shares = np.exp(scores - scores.max())
        if allowed is not None:
            shares = np.where(allowed[i].numpy(), shares, 0.0)
        shares = shares / max(shares.sum(), 1e-300)
        weights.append(shares)
        outputs.append(sum(share * value for share, value in zip(shares, v, strict=True)))
    return np.array(weights), np.array(outputs)


def _checks(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    heads: tuple[GeneralHead, ...],
    w_o: Tensor,
    visible: Tensor | None,
    trace: GeneralTrace,
) -> list[Check]:
    by_columns = [in_columns(queries, keys, values, head, visible) for head in heads]
    off = worst(np.abs(weights - trace.weights[i].numpy()).max() for i, (weights, _) in enumerate(by_columns))
    concatenated = torch.from_numpy(np.concatenate([output for _, output in by_columns], axis=1)).float()
    dots = [i for i, head in enumerate(heads) if head.additive is None]
    torchs = worst(
        (
            scaled_dot_product_attention(
                (queries @ heads[i].w_q)[None], (keys @ heads[i].w_k)[None], (values @ heads[i].w_v)[None], visible
            )[0]
            - trace.head_outputs[i]
        )
        .abs()
        .max()
        for i in dots
    )
    size = 1e-5 * largest(trace.output)
    return [
        check("two_sequences.kinds.check_columns", off, 1e-5, n=len(heads)),
        check("two_sequences.kinds.check_torch", torchs, size),
        check("two_sequences.kinds.check_joined", (linear(concatenated, w_o.T) - trace.output).abs().max(), size),
        check("two_sequences.kinds.check_rows", rows_error(trace.weights, trace.masked), 1e-5),
    ]
