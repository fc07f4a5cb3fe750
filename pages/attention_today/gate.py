"""A gate between the heads and W_O: each word decides how much of what a head gives is passed on."""

import math
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.models import show_users
from pages.attention_today.parameters import GATE_BIAS, GATED, STANDARD
from pages.attention_today.trained import describe
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import largest, random_place
from viz.core.heads import MultiHeadTrace, concat_heads, merge_heads
from viz.core.nested import double
from viz.core.variants.today.gates import output_gate
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.show import show_matrix

GATE = r"O = \operatorname{concat}_h\big(A_h V_h \odot \operatorname{sigmoid}(X W_{g,h} + b)\big)\, W_O"


def gates(layer: Layer, kind: str, bias: float) -> Tensor:
    """Return the gate of every word and head, (H, T, d_v or 1): 1 everywhere at the standard."""
    H, (x, w_gate) = len(layer.q), gate_inputs(layer, kind)
    b_gate = torch.full((w_gate.shape[-1],), torch.inf if kind == STANDARD else bias)
    return output_gate(x, w_gate, H, b_gate=b_gate.to(x.dtype))


def gate_inputs(layer: Layer, kind: str) -> tuple[Tensor, Tensor]:
    """Return the words as a gate reads them (T, d_model), and its seeded weights (d_model, H or H d_v)."""
    H, d_model = len(layer.q), layer.x.shape[-1]
    width = H if kind != "dimension" else H * layer.v.shape[-1]
    w_gate = torch.randn(d_model, width, generator=torch.Generator().manual_seed(0)) / d_model**0.5
    return torch.nn.functional.layer_norm(layer.x, layer.x.shape[-1:]), w_gate.to(layer.x.dtype)


def mean_gate(layer: Layer, kind: str, bias: float, word: int, head: int) -> float:
    """Return a head's mean gate at one word, dimension by dimension."""
    x, w_gate = gate_inputs(layer, kind)
    width = w_gate.shape[-1] // len(layer.q)
    inputs = [float(x[word] @ w_gate[:, head * width + i]) + bias for i in range(width)]
    return sum(1.0 if kind == STANDARD else 1 / (1 + math.exp(-value)) for value in inputs) / width


def pass_on(layer: Layer, gate: Tensor | None) -> MultiHeadTrace:
    """Attend in the layer's heads, with a gate before W_O."""
    options: dict[str, Any] = layer.options
    return merge_heads(layer.q, layer.k, layer.v, layer.weights, x=layer.x, memory=layer.x, gate=gate, **options)


def draw(context: TodayContext) -> list[Check]:
    """The gates of all words and heads, and what they leave of the layer's output."""
    t, layer, picture, finding = context.t, context.layer, st.container(), st.container()
    kind = GATED.segments(t("attention_today.gate.switch"), says=lambda code: t(f"attention_today.gate.{code}"))
    is_gated = kind != STANDARD
    bias = GATE_BIAS.slider(t("attention_today.gate.bias"), step=0.5) if is_gated else GATE_BIAS.read()
    gate = gates(layer, kind, bias)
    standard, gated = pass_on(layer, None), pass_on(layer, gate)
    means = gate.mean(-1).mT
    with picture:
        matrix = Matrix(
            values=means,
            rows=Axis(context.labels, t("attention_today.gate.rows")),
            columns=Axis(list(map(str, range(means.shape[1]))), t("attention_today.head")),
            kind="weights",
            numbers=True,
            hover=t("attention_today.gate.hover"),
        )
        means_in_browser = show_matrix(t, matrix, key="gates", alt=t("attention_today.gate.alt"))
    length = float(gated.concat.norm() / standard.concat.norm().clamp(min=1e-12))
    lowest, highest = (part(float(value)) for value in (gate.min(), gate.max()))
    values = {"passed": part(length), "low": lowest, "high": highest, "mean": number(float(means.mean()))}
    with finding:
        say(t("attention_today.gate.says", **values))
    st.caption(t("attention_today.gate.paper"))
    say(describe(t, "gate"))
    show_users(t, "gate")
    word, head = random_place(context.n, context.labels, kind, "word"), context.head
    off = float(means_in_browser[word, head]) - mean_gate(layer, kind, bias, word, head)
    gate_check = check("attention_today.gate.check_shown", abs(off), 1e-5, row=word, head=head)
    return [*_checks(layer, gated, gate), gate_check]


def _checks(layer: Layer, gated: MultiHeadTrace, gate: Tensor) -> list[Check]:
    exact = double(layer)
    off = pass_on(exact, gates(exact, STANDARD, 0.0)).output - pass_on(exact, None).output
    bias = 0 if layer.weights.b_o is None else layer.weights.b_o
    by_hand = concat_heads(layer.attend().output * gate) @ layer.weights.w_o + bias
    apart = (by_hand - gated.output).abs().max()
    return [
        check("attention_today.gate.check_standard", off.abs().max(), 1e-6),
        check("attention_today.gate.check_before", apart, 1e-5 * largest(by_hand)),
    ]
