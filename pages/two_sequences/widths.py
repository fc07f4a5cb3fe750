"""Two texts whose vectors differ in width: sizes that have to agree, and all shapes."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.two_sequences.context import TwoSequencesContext
from viz import limits
from viz.components.view import View
from viz.core.analysis.checks import sdpa_deviation
from viz.core.cost.attention import attention_flops, parameters
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.core.variants.scoring import AdditiveWeights, additive, dot
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.shared import TOY_HEADS
from viz.frame.show import show_table
from viz.models.positions import first
from viz.models.tokens import seeded_embeddings
from viz.params import Int, Scope

SHAPES = View("two_sequences/shapes", words="two_sequences.shapes.")
SIZES = {
    name: Int(f"two_{name}", default, low=1, high=64)
    for name, default in (("d_model", 10), ("d_memory", 7), ("d_head", 4), ("d_value", 5), ("d_output", 3))
}
HEADS = TOY_HEADS.variant(default=2, high=16, scope=Scope("widths"))
MEANS = {
    "X": "x",
    "M": "memory",
    "W_Q": "w_q",
    "W_K": "w_k",
    "W_V": "w_v",
    "W_O": "w_o",
    "Q": "q",
    "K": "k",
    "V": "v",
    "A": "weights",
    "Z": "head_outputs",
    "Y": "output",
}
"""Attribute of a trace, or of its projections, for each letter of the formula."""

PRODUCTS = (
    ("X", "W_Q", "Q"),
    ("M", "W_K", "K"),
    ("M", "W_V", "V"),
    ("Q", "K", "A"),
    ("A", "V", "Z"),
    ("Z", "W_O", "Y"),
)
"""The matrix products of a layer in the order of computation: two factors and the product."""

OF = {
    "X": "target",
    "Q": "target",
    "M": "source",
    "K": "source",
    "V": "source",
    "A": "both",
    "Z": "both",
    "Y": "both",
} | dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), "learned")
"""Origin of a matrix, which decides its colour."""


def draw(context: TwoSequencesContext) -> list[Check]:
    """Draw every matrix to scale, with its computed shape."""
    t, n, capture = context.t, limits.SCORED_TOKENS, context.cross.capture
    picture = st.container()
    spec = _chosen_widths(context)
    queries, keys = (first(tokens, n) for tokens in (capture.queries, capture.tokens))
    x, memory = seeded_embeddings(queries.ids, spec.d_model, 0), seeded_embeddings(keys.ids, spec.d_mem, 0)
    weights = HeadWeights.random(spec, seed=0)
    with torch.inference_mode():
        trace = multi_head(x, memory, weights)
    tensors = vars(trace) | vars(trace.projections)
    shapes = {name: tuple(tensors[code].shape) for name, code in MEANS.items()}
    with picture:
        _picture(context, shapes)
    if context.is_cut:
        st.caption(t("two_sequences.first", n=n))
    _without_projections(context, x, memory)
    _table(context, shapes)
    cost = parameters(spec).total
    flops = attention_flops(spec, n_queries=len(x), n_keys=len(memory)).total
    st.caption(t("two_sequences.widths_cost", parameters=f"{cost:,}", flops=f"{flops:,}"))
    return [
        check("two_sequences.check_parameters", abs(cost - weights.n_parameters()), 0),
        check("truth.sdpa", *sdpa_deviation(trace)),
    ]


def _chosen_widths(context: TwoSequencesContext) -> AttentionSpec:
    t = context.t
    with st.container(horizontal=True, gap="small"):
        sizes = {
            name: parameter.number_input(t(f"two_sequences.width_{name}"), width=136)
            for name, parameter in SIZES.items()
        }
        heads = HEADS.number_input(t("two_sequences.width_heads"), width=136)
    return AttentionSpec(n_heads=heads, **sizes)


def product_boxes(product: Sequence[str], shapes: Mapping[str, Sequence[int]]) -> list[dict[str, Any]]:
    """Return the two factors of a product and the product, as the browser draws them.

    A learned factor serves all heads, which lie side by side; other products are drawn for one head.

    Example:
        >>> boxes = product_boxes(("X", "W_Q", "Q"), {"X": (13, 10), "W_Q": (10, 8), "Q": (2, 13, 4)})
        >>> [(box["rows"], box["columns"], box["side_by_side"]) for box in boxes]
        [(13, 10, 1), (10, 8, 1), (13, 4, 2)]
    """
    every_head = any(name.startswith("W_") for name in product)
    boxes = []
    for name in product:
        *heads, rows, columns = shapes[name]
        if name == "K" and not every_head:
            box = {"name": "Kᵀ", "rows": columns, "columns": rows}
        else:
            box = {"name": name, "rows": rows, "columns": columns}
        boxes.append({**box, "of": OF[name], "side_by_side": heads[0] if heads and every_head else 1})
    return boxes


def _picture(context: TwoSequencesContext, shapes: Mapping[str, Sequence[int]]) -> None:
    t, n_heads = context.t, shapes["A"][0]
    products = [
        {"boxes": product_boxes(product, shapes), "softmax": product[-1] == "A", "n_heads": n_heads}
        for product in PRODUCTS
    ]
    SHAPES.mount(key="shapes_drawn", data={"products": products})
    st.caption(t("two_sequences.shapes.legend"))


def _table(context: TwoSequencesContext, shapes: Mapping[str, Sequence[int]]) -> None:
    t = context.t
    rows = [
        {"name": name, "means": t(f"two_sequences.shape_{code}"), "shape": " × ".join(map(str, shapes[name]))}
        for name, code in MEANS.items()
    ]
    titles = {key: st.column_config.Column(t(f"two_sequences.column_{key}")) for key in rows[0]}
    show_table(rows, column_config=titles, height="content", key="shapes")


def _without_projections(context: TwoSequencesContext, x: Tensor, memory: Tensor) -> None:
    """Score X and M without W_Q and W_K: a dot product may be impossible, the additive score always works."""
    t, widths = context.t, {"q": x.shape[-1], "k": memory.shape[-1]}
    try:
        shape = tuple(dot(x, memory).shape)
        say(t("two_sequences.bare_dot", shape=" × ".join(map(str, shape))))
    except ValueError:
        say(t("two_sequences.bare_no_dot", **widths))
    hidden = AdditiveWeights.random(x.shape[-1], memory.shape[-1], 4, seed=0)
    shape = tuple(additive(x, memory, hidden).shape)
    say(t("two_sequences.bare_additive", shape=" × ".join(map(str, shape)), **widths))
