"""Attention without a softmax: what was read is added up in a state of d x d numbers, with or without correction."""

import math

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.maps import show_maps
from pages.attention_today.models import show_users
from pages.attention_today.parameters import BETA, FADE, STANDARD, STATE
from pages.attention_today.trained import describe
from viz.core.analysis.checks import largest
from viz.core.attention import attend
from viz.core.cost.mixed import FullCost, LinearCost, cheaper_from
from viz.core.masks import causal
from viz.core.variants.today.delta import delta_map, delta_states, recall_errors, to_unit_length
from viz.core.variants.today.linear import linear_map, linear_states
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import amount, number, share
from viz.frame.modes import say
from viz.frame.show import show_lines

STATES = (
    r"S \leftarrow e^{g} S, \quad \delta = \beta\,(v - S^\top k), \quad S \leftarrow S + k\,\delta^\top, \quad "
    r"o = S^\top q / \sqrt d"
)

CODE = (linear_map, linear_states, delta_map, delta_states, recall_errors)


def map_of(layer: Layer, kind: str, beta: float, fade: float) -> Tensor:
    """Return what each token takes from each value in every head, (H, T, T); standard attention is causal here."""
    n = layer.q.shape[-2]
    steps = layer.q.new_full(layer.q.shape[:-1], math.log(fade))
    if kind == STANDARD:
        return attend(layer.q, layer.k, layer.v, allowed=causal(n, n), scale=layer.scale).weights
    if kind == "linear":
        return linear_map(layer.q, layer.k, steps)
    return delta_map(to_unit_length(layer.q), to_unit_length(layer.k), beta=torch.full_like(steps, beta), steps=steps)


def draw(context: TodayContext) -> list[Check]:
    """One head's map beside the standard one, how well a state recalls a pair that came again, and how large it is."""
    t, layer, pictures, finding = context.t, context.layer, st.container(), st.container()
    kind = STATE.segments(t("attention_today.state.switch"), says=lambda code: t(f"attention_today.state.{code}"))
    left, right = st.columns(2)
    with left:
        fade = FADE.slider(t("attention_today.state.fade"), step=0.05) if kind != STANDARD else FADE.read()
    with right:
        beta = BETA.slider(t("attention_today.state.beta"), step=0.1) if kind == "delta" else BETA.read()
    maps = map_of(layer, kind, beta, fade)
    with pictures:
        _show_map_pair(context, kind, maps)
    recalled = recall(layer, context.head)
    values = {"with_delta": share(recalled["with_delta"]), "without": number(recalled["without"], 2)}
    with finding:
        say(t("attention_today.state.says", head=context.head, **values))
    _sizes(context)
    say(describe(t, "delta_3_1"))
    show_users(t, "linear", "delta")
    return _checks(context, maps, kind, beta, fade)


def _show_map_pair(context: TodayContext, kind: str, maps: Tensor) -> None:
    """Show the head's standard map and that of the way to read, each on its own scale: weights are no scores."""
    t, head = context.t, context.head
    pairs = [(STANDARD, map_of(context.layer, STANDARD, 1.0, 1.0)), (kind, maps)]
    for place, key, (code, each_map) in zip(st.columns(2), ("state_standard", "state_maps"), pairs, strict=True):
        with place:
            title = t("attention_today.state.map", head=head, way=t(f"attention_today.state.{code}"))
            show_maps(context, [title], each_map[head][None], key=key, signed=code != STANDARD)


def recall(layer: Layer, head: int) -> dict[str, float]:
    """Write all pairs of a head, then the first key again with the last value; return how far the answer to it is off.

    With the correction, and without it, as a share of the value's length.
    """
    k, v = layer.k[head], layer.v[head]
    keys, values = torch.cat([k, k[:1]]), torch.cat([v, v[-1:]])
    return {
        name: float(recall_errors(keys, values, corrects=corrects)[-1])
        for name, corrects in (("with_delta", True), ("without", False))
    }


def _sizes(context: TodayContext) -> None:
    t, layer = context.t, context.layer
    spec = layer.weights.spec
    full = FullCost(spec=spec)
    state = LinearCost(n_heads=spec.H, d_k=spec.d_k, d_v=spec.d_v, corrects=True)
    smaller_from = cheaper_from(state.cache_numbers, full.cache_numbers)
    lengths = [2**power for power in range(13)]
    sizes = {
        t(f"attention_today.state.{name}"): torch.tensor([float(kind.cache_numbers(n)) for n in lengths])
        for name, kind in (("cache", full), ("state", state))
    }
    x, y = Axis(t("attention_today.state.tokens"), log=True), Axis(t("attention_today.state.numbers"), log=True)
    show_lines(
        curves(lengths, sizes, x=x, y=y, height=220), key="state_sizes", alt=t("attention_today.state.sizes_alt")
    )
    values = {"d_k": spec.d_k, "d_v": spec.d_v, "H": spec.H, "G": spec.G, "numbers": amount(state.cache_numbers(1))}
    st.caption(t("attention_today.state.size", n=amount(smaller_from), **values))


def _checks(context: TodayContext, maps: Tensor, kind: str, beta: float, fade: float) -> list[Check]:
    layer, n = context.layer, context.n
    v = layer.v.double()
    keys, ones = torch.eye(n, dtype=v.dtype).expand(len(v), -1, -1), v.new_ones(v.shape[:-1])
    exact = delta_states(keys * math.sqrt(n), keys, v, beta=ones, steps=0 * ones).output
    sharp = attend(keys, keys, v, allowed=causal(n, n), scale=1e4).output
    by_token, recalled = _by_token(layer, kind, beta, fade), recall(layer, context.head)["with_delta"]
    return [
        check("attention_today.state.check_standard", (exact - sharp).abs().max(), 1e-6),
        check("attention_today.state.check_map", (maps @ layer.v - by_token).abs().max(), 1e-4 * largest(by_token)),
        check("attention_today.state.check_recall", recalled, 1e-3),
    ]


def _by_token(layer: Layer, kind: str, beta: float, fade: float) -> Tensor:
    """Return the heads' outputs as a decoder computes them, one token after the other."""
    steps = layer.q.new_full(layer.q.shape[:-1], math.log(fade))
    if kind == "linear":
        return linear_states(layer.q, layer.k, layer.v, steps).output
    if kind == "delta":
        q, k = to_unit_length(layer.q), to_unit_length(layer.k)
        return delta_states(q, k, layer.v, beta=torch.full_like(steps, beta), steps=steps).output
    n = layer.q.shape[-2]
    rows = [
        attend(layer.q[:, i : i + 1], layer.k[:, : i + 1], layer.v[:, : i + 1], scale=layer.scale).output
        for i in range(n)
    ]
    return torch.cat(rows, -2)
