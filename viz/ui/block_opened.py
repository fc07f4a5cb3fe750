"""The open box: its formula, its tensor, and what is particular to it."""

import streamlit as st
from torch import Tensor

from viz.core.heads import MultiHeadTrace
from viz.core.norm import moments, no_norm
from viz.figures.matrix import matrix
from viz.ui import state
from viz.ui.block import Stage
from viz.ui.block_diagram import kind_of, long_name
from viz.ui.block_formulas import formula, start
from viz.ui.controls import KEEP
from viz.ui.layout import show

TICKS = 8
"""Columns that are numbered: with d_model of them all, none could be read."""


def opened(stage: Stage, code: str) -> None:
    """Everything about one box."""
    t, kind, tower = stage.t, kind_of(code), stage.tower(code)
    values, name = tower.boxes[code], long_name(stage, code)
    st.markdown(f"##### {name}")
    st.markdown(_about(stage, code))
    st.latex(start(tower.inputs, values) if kind == "sum" else formula(kind, tower.trace))
    _tensor(stage, code, values, name)
    seen = moments(values)
    st.caption(
        t(
            "block.tensor_says", rows=values.shape[0], columns=values.shape[1], mean=f"{float(seen.mean.mean()):.3f}",
            std=f"{float(seen.std.mean()):.3f}", norm=f"{float(seen.norm.mean()):.2f}",
        )
    )  # fmt: skip
    _particular(stage, code, values)
    steps = {"attention": tower.trace.attention, "cross": tower.trace.cross}.get(kind)
    if steps is not None:
        _heads(stage, code, steps)


def _particular(stage: Stage, code: str, values: Tensor) -> None:
    """One more line about boxes that have something to tell."""
    t, kind, trace = stage.t, kind_of(code), stage.tower(code).trace
    if kind == "hidden":
        st.caption(t("block.hidden_says", zero=f"{int((values == 0).sum()):,}", all=f"{values.numel():,}"))
    if kind == "feed_forward":
        all_of_it, own = trace.weights.n_parameters(), trace.weights.feed_forward.n_parameters()
        st.caption(t("block.feed_forward_says", share=f"{own / all_of_it:.0%}", n=f"{all_of_it:,}"))
    if kind.endswith("_norm") and trace.design.normalize is not no_norm:
        before, after = moments(trace.before(kind)), moments(values)
        gain = trace.norm_weights(kind).gain
        numbers = {
            "mean": before.mean.abs().mean(), "std": before.std.mean(), "mean_after": after.mean.abs().mean(),
            "std_after": after.std.mean(), "low": gain.min(), "high": gain.max(),
        }  # fmt: skip
        st.caption(t("block.norm_says", **{name: f"{float(value):.3f}" for name, value in numbers.items()}))


def _about(stage: Stage, code: str) -> str:
    kind, tower = kind_of(code), stage.tower(code)
    about = "add" if kind.endswith("_add") else "norm" if kind.endswith("_norm") else kind
    if about == "attention" and tower.trace.attention.allowed is not None:
        about = "masked"
    if about == "sum" and tower.inputs and "position" not in tower.inputs:
        about = "start"
    if about == "sum":
        source = stage.source.kind if not tower.lent else "embeddings"
        return stage.t(f"block.about_sum_{source}")
    return stage.t(f"block.about_{about}", layer=tower.layer - 1, last=len(tower.traces) - 1)


def _tensor(stage: Stage, code: str, values: Tensor, name: str) -> None:
    t, labels, width = stage.t, stage.labels_of(code), values.shape[1]
    columns = [str(i) if i % max(1, width // TICKS) == 0 else "" for i in range(width)]
    fig = matrix(
        values, labels, columns, kind="signed", limit=float(values.abs().flatten().quantile(0.995)) or None,
        row_title=t("axis.tokens"), column_title=t("block.dimension"),
    )  # fmt: skip
    fig["layout"]["height"] = min(520, 120 + 14 * len(labels))
    show(fig, key="block_tensor", alt=t("block.tensor_alt", name=name, rows=len(labels), columns=width))


def _heads(stage: Stage, code: str, steps: MultiHeadTrace) -> None:
    """One head's weights: a square map, or a rectangle where another text answers."""
    t, H = stage.t, steps.projections.spec.H
    head = state.whole("head", 1, 0, H - 1)
    if H > 1:
        st.slider(t("block.head"), 0, H - 1, key="head", persist_state=KEEP)
    cross = kind_of(code) == "cross"
    keys = stage.labels_of("dec_memory") if cross else stage.labels_of(code)
    fig = matrix(
        steps.weights[head], stage.labels_of(code), keys, kind="weights",
        row_title=t("axis.queries"), column_title=t("axis.keys"),
    )  # fmt: skip
    fig["layout"]["height"] = min(520, 160 + 20 * len(steps.x))
    show(fig, key="block_weights", alt=t("block.weights_alt", head=head, rows=len(steps.x), columns=len(keys)))
    said = t("block.weights_cross" if cross else "block.weights_self", rows=len(steps.x), columns=len(keys))
    blind = int((steps.weights[head].amax(-1) == 0).sum())
    st.caption(f"{said} {t('block.weights_blind', n=blind)}" if blind else said)
