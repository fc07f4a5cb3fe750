"""The open box: its sentence, its tensor and its controls; its formula is in the footer."""

import streamlit as st
from torch import Tensor

from pages.block import formulas
from pages.block.attention_map import attention_map
from pages.block.context import BlockContext
from pages.block.routing import caption_parameters, caption_routing, draw_routing
from pages.block.side import Side, kind_of, long_name
from viz.components.matrix import Axis, Kind, Matrix, numbered
from viz.core.norm import Norm, moments, no_norm, rms_norm
from viz.frame.format import share, statistic
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.text import has_text, paragraph

ABOUT_NORMS: dict[Norm, str] = {rms_norm: "_rms", no_norm: "_off"}
"""Ends of the texts about norms that are no layer norm."""


def draw(context: BlockContext) -> None:
    """Render the open box."""
    t, code = context.t, context.box
    side, kind = context.side_of(code), kind_of(code)
    values, name = side.boxes[code], long_name(t, side, kind)
    say(t("block.open_box", name=name, about=t(about_key(side, kind))))
    _weights(context, side, kind)
    if side.has_experts and kind in ("router", "feed_forward"):
        draw_routing(context, side)
    _tensor(context, code, values, name)
    if kind == "router":
        caption_routing(context, side)
        return
    statistics = moments(values)
    sizes = {"mean": statistics.mean.mean(), "std": statistics.std.mean(), "norm": statistics.norm.mean()}
    texts = {what: statistic(value, 2) for what, value in sizes.items()}
    st.caption(t("block.tensor_says", rows=values.shape[0], columns=values.shape[1], **texts))
    _particular(context, side, kind, values)


def formula(context: BlockContext) -> None:
    """The formula of the open box."""
    side, kind = context.side_of(context.box), kind_of(context.box)
    if kind == "sum":
        latex = formulas.start(side.inputs, side.boxes[context.box])
    else:
        latex = formulas.formula(kind, side.trace)
    st.latex(latex)
    if has_text(more := f"{about_key(side, kind)}_more"):
        say(context.t(more))


def about_key(side: Side, kind: str) -> str:
    """The text that says what a box does."""
    about = "add" if kind.endswith("_add") else "norm" if kind.endswith("_norm") else kind
    if about == "norm":
        about += ABOUT_NORMS.get(side.trace.design.normalize, "")
    if about == "feed_forward" and side.has_experts:
        about = "experts"
    if about == "attention" and side.is_masked:
        about = "masked"
    if about == "sum" and side.inputs and "position" not in side.inputs:
        about = "start"
    return f"block.about_{about}"


def _weights(context: BlockContext, side: Side, kind: str) -> None:
    """One head's weights: a square map, or a rectangle where another text is looked at."""
    steps = {"attention": side.trace.attention, "cross": side.trace.cross}.get(kind)
    if steps is None:
        return
    keys = context.source_labels if kind == "cross" else side.labels
    attention_map(context, steps, side.labels, keys, key="block_weights", axes=context.t("axis.both"))


def _tensor(context: BlockContext, code: str, values: Tensor, name: str) -> None:
    t, labels, width = context.t, context.labels_of(code), values.shape[1]
    is_router = kind_of(code) == "router"
    columns = numbered(width, t("block.expert" if is_router else "block.dimension"))
    limit = float(values.abs().flatten().quantile(0.995)) or None
    rows, sizes = Axis(labels, t("axis.tokens")), {"rows": len(labels), "columns": width}
    alt = t("block.router_alt" if is_router else "block.tensor_alt", name=name, **sizes)
    # Weights of experts are never negative.
    kind: Kind = "sizes" if is_router else "signed"
    matrix = Matrix(values=values, rows=rows, columns=columns, kind=kind, limit=limit, low=True)
    show_matrix(t, matrix, key="block_tensor", alt=alt)


def _particular(context: BlockContext, side: Side, kind: str, values: Tensor) -> None:
    """One more line about boxes that have something to tell."""
    t, trace = context.t, side.trace
    if kind == "hidden":
        st.caption(t("block.hidden_says", zero=f"{int((values == 0).sum()):,}", all=f"{values.numel():,}"))
    if kind == "feed_forward" and side.has_experts:
        caption_parameters(context, side)
    elif kind == "feed_forward":
        n_all, n_inside = trace.weights.n_parameters(), trace.weights.feed_forward.n_parameters()
        st.caption(t("block.feed_forward_says", share=share(n_inside / n_all), n=f"{n_all:,}"))
    if kind.endswith("_norm") and trace.design.normalize is not no_norm:
        before, after = moments(trace.before(kind)), moments(values)
        gain = trace.norm_weights(kind).gain
        sizes = {"mean": before.mean.abs(), "std": before.std, "mean_after": after.mean.abs(), "std_after": after.std}
        sentence = t("block.norm_says", **{what: statistic(column.mean(), 2) for what, column in sizes.items()})
        gains = t("block.gains", low=statistic(gain.min(), 2), high=statistic(gain.max(), 2))
        st.caption(paragraph(sentence, gains))
