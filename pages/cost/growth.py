"""Growth of a layer's cost with the text: lines over the length, and the crossings with self-attention."""

from dataclasses import replace

import streamlit as st

from pages.cost import compute
from pages.cost.context import CostContext, draw_sizes, powers_of_two
from viz.core.cost.architectures import ARCHITECTURES, Architecture, Sizes, crossing, find_architecture, gru, lstm
from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.show import show_lines
from viz.params import Choice
from viz.text import Translate

COUNTED_TOKENS = 11
"""Length of the text on which torch counts: any would do, both sides count the same one."""

WEIGHTS = {"recurrence": 2, "gru": 6, "lstm": 8}
"""Matrices of d x d that a recurrence multiplies every word with, all told."""

HOW = Choice("cost_how", among=("order", "exact"))


def draw(context: CostContext) -> list[Check]:
    """Every layer's cost over the length of the text, and the lengths at which self-attention meets the others."""
    t, s, picture = context.t, context.sizes, st.container()
    draw_sizes(context)
    how = HOW.segments(t("cost.how"), says=lambda code: t(f"cost.how_{code}"), label_visibility="collapsed")
    layers = architectures(exact=how == "exact")
    attention = layers["self_attention"]

    def value(architecture: Architecture, at: Sizes) -> int:
        return architecture.order(at) if how == "order" else architecture.count(at)

    def meets(architecture: Architecture) -> int | None:
        return crossing(lambda at: value(attention, at), lambda at: value(architecture, at), s)

    lengths = powers_of_two(s.n, s.d, s.k * s.d)
    names = {name: name.upper() if name in ("gru", "lstm") else t(f"cost.{name}") for name in layers}
    lines = [
        Line(name=names[name], style=i, values={n: value(architecture, replace(s, n=n)) for n in lengths})
        for i, (name, architecture) in enumerate(layers.items())
    ]
    crossings = {
        name: meets(architecture) for name, architecture in layers.items() if name not in ("self_attention", "window")
    }
    met = {n: value(attention, replace(s, n=n)) for n in crossings.values() if n and 1 < n <= lengths[-1]}
    if met:
        lines.append(Line(name=t("cost.meets"), points=True, values=met))
    fig = growth(lines, size_title=t("cost.n"), value_title=t("cost.multiply_adds"), marks={s.n: f"n = {amount(s.n)}"})
    with picture:
        show_lines(fig, key="growth", alt=t("cost.curves_alt", d=amount(s.d), k=s.k))
    st.markdown("\n".join(f"- {_crossing_sentence(t, names[name], n)}" for name, n in crossings.items()))
    st.caption(t(f"cost.how_{how}_note"))
    return [flops_check(s), _crossings_check(s, how, crossings)]


def architectures(*, exact: bool) -> dict[str, Architecture]:
    """The layers drawn: those of the table; with the exact counts also GRU and LSTM."""
    # A dilated convolution does the same work as a plain one.
    layers = {architecture.name: architecture for architecture in ARCHITECTURES if architecture.name != "dilated"}
    if exact:
        for name, count in (("gru", gru), ("lstm", lstm)):
            layers[name] = replace(find_architecture("recurrence"), name=name, multiply_adds=count)
    return layers


def _crossing_sentence(t: Translate, name: str, n: int | None) -> str:
    return t("cost.crossing_1", name=name) if n == 1 else t("cost.crossing", name=name, n=amount(n))


def flops_check(s: Sizes) -> Check:
    """The exact counts against torch's own counter, on the layers that torch has."""
    at, layers = replace(s, n=COUNTED_TOKENS), architectures(exact=True)
    counts = compute.candidate_flops(s.d, s.h, s.k, COUNTED_TOKENS)
    off = max(abs(flops - FLOPS_PER_MULTIPLY_ADD * layers[name].count(at)) for name, flops in counts.items())
    return check("cost.check_flops", off, 0, n=COUNTED_TOKENS, d=s.d, h=s.h, k=s.k)


def _crossings_check(s: Sizes, how: str, crossings: dict[str, int | None]) -> Check:
    """The lengths found by trying against the formulas solved for n: n²d = knd², 4nd² + 2n²d = knd², and so on."""
    if how == "order":
        solved = {"convolution": s.k * s.d, "recurrence": s.d}
    else:
        weights = WEIGHTS | {"convolution": s.k}
        solved = {name: max(1, -(-(weights[name] - 4) * s.d // 2)) for name in crossings}
    off = max(abs((crossings[name] or 0) - n) for name, n in solved.items())
    return check("cost.check_crossings", off, 0, n=len(solved))
