"""Scores kept small: a soft cap, or a norm of queries and keys, beside the division by √d."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.maps import show_maps
from pages.attention_today.models import show_users
from pages.attention_today.parameters import CAP, NORM_GAIN, STANDARD, TAMED
from viz.core.analysis.checks import largest, maps_off
from viz.core.analysis.map_statistics import entropy
from viz.core.attention import AttentionTrace, attend
from viz.core.nested import double
from viz.core.variants.today.bounded_scores import QKNorm, largest_score, norm_queries_and_keys, soft_cap
from viz.frame.checks import Check, check
from viz.frame.format import at_most, number
from viz.frame.modes import say
from viz.frame.show import show_table

BOUNDS = (
    r"s \mapsto c \tanh(s / c), \qquad \hat q = \gamma_q \odot q / \operatorname{rms}(q), \quad "
    r"|\hat q \cdot \hat k| / \sqrt{d} \le \sqrt{d}\, \max_j |\gamma_{q,j} \gamma_{k,j}|"
)

CODE = (soft_cap, norm_queries_and_keys, largest_score)


def norm_of(layer: Layer, gain: float) -> QKNorm:
    """Return a norm of each head by itself, of queries and keys as they are compared."""
    gains = layer.q.new_full((layer.q.shape[-1],), gain)
    return QKNorm(place="after_turn", q_gain=gains, k_gain=gains)


def attend_normed(layer: Layer, norm: QKNorm) -> AttentionTrace:
    """Attend with normed queries and keys."""
    q, k = norm_queries_and_keys(layer.q, layer.k, norm)
    return attend(q, k, layer.v, **{**layer.options, "score_mod": None})


def attend_each_way(layer: Layer, cap: float, norm: QKNorm) -> dict[str, AttentionTrace]:
    """Attend without the division, as the standard has it, with a soft cap in place of its own, and with a norm."""
    return {
        "undivided": layer.attend(score_mod=None, scale=1.0),
        STANDARD: layer.attend(score_mod=None),
        "cap": layer.attend(score_mod=soft_cap(cap)),
        "norm": attend_normed(layer, norm),
    }


def draw(context: TodayContext) -> list[Check]:
    """One head's map with and without the limit, and a table: the largest score, the entropy of a row."""
    t, layer, pictures, finding = context.t, context.layer, st.container(), st.container()
    kind = TAMED.segments(t("attention_today.tamed.switch"), says=lambda code: t(f"attention_today.tamed.{code}"))
    cap = CAP.slider(t("attention_today.tamed.c"), step=0.5) if kind == "cap" else CAP.read()
    gain = NORM_GAIN.slider(t("attention_today.tamed.gamma"), step=0.1) if kind == "norm" else NORM_GAIN.read()
    norm = norm_of(layer, gain)
    # A limit is one of the scores before a bias by distance is added.
    plain = replace(layer, options={**layer.options, "bias": None})
    traces, scores = (attend_each_way(layer_, cap, norm) for layer_ in (layer, plain))
    bound = largest_score(norm, d_k=layer.q.shape[-1]) * layer.scale * math.sqrt(layer.q.shape[-1])
    bounds = {"undivided": math.inf, STANDARD: math.inf, "cap": cap, "norm": bound}
    with pictures:
        titles = [t(f"attention_today.tamed.{code}") for code in (STANDARD, kind)]
        maps = torch.stack([traces[code].weights[context.head] for code in (STANDARD, kind)])
        maps_in_browser = show_maps(context, titles, maps, key="tamed_maps")
    before, now = (_entropy(trace, context.head) for trace in (traces[STANDARD], traces[kind]))
    values = {"before": number(before, 3), "after": number(now, 3), "bound": at_most(bounds[kind])}
    with finding:
        key = "says" if kind in ("cap", "norm") else "says_off"
        say(t(f"attention_today.tamed.{key}", head=context.head, **values))
    show_table([_row(context, code, trace, scores[code], bounds[code]) for code, trace in traces.items()])
    if layer.options.get("bias") is not None:
        st.caption(t("attention_today.tamed.biased"))
    show_users(t, "cap", "qk_norm")
    off, tolerance = maps_off(
        maps_in_browser, context.head, [calls(layer, cap, gain)[code] for code in (STANDARD, kind)]
    )
    return [*_checks(layer, scores, bounds), check("attention_today.tamed.check_maps", off, tolerance)]


def calls(layer: Layer, cap: float, gain: float) -> dict[str, tuple[Tensor, Tensor, dict[str, Any]]]:
    """Return q, k and options of each way, written out for torch's own attention."""

    def capped(scores: Tensor) -> Tensor:
        return cap * (scores / cap).tanh()

    plain = {**layer.options, "score_mod": None}
    q, k = (gain * torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-6) for x in (layer.q, layer.k))
    return {
        STANDARD: (layer.q, layer.k, plain),
        "cap": (layer.q, layer.k, {**plain, "score_mod": capped}),
        "norm": (q, k, plain),
    }


def _entropy(trace: AttentionTrace, head: int) -> float:
    return float(entropy(trace.weights)[head].mean())


def _row(
    context: TodayContext, code: str, trace: AttentionTrace, scores: AttentionTrace, bound: float
) -> dict[str, str]:
    t = context.t
    return {
        t("attention_today.tamed.way"): t(f"attention_today.tamed.{code}"),
        t("attention_today.tamed.bound"): at_most(bound, 3),
        t("attention_today.tamed.largest"): number(float(_scores(scores)[context.head].abs().max()), 3),
        t("attention_today.tamed.entropy"): number(_entropy(trace, context.head), 3),
    }


def _checks(layer: Layer, scores: dict[str, AttentionTrace], bounds: dict[str, float]) -> list[Check]:
    exact = double(layer)
    plain = exact.attend(score_mod=None)
    ends = [exact.attend(score_mod=soft_cap(math.inf)), attend_normed(exact, QKNorm(place="off"))]
    off = max(float((trace.output - plain.output).abs().max()) for trace in ends)
    over = max(float(_scores(scores[code]).abs().max()) - bounds[code] for code in ("cap", "norm"))
    by_hand = (layer.q @ layer.k.mT * layer.scale / bounds["cap"]).tanh() * bounds["cap"]
    is_open = scores["cap"].masked.isfinite()
    cap_off = (by_hand - _scores(scores["cap"])).where(is_open, 0.0).abs().max()
    return [
        check("attention_today.tamed.check_standard", off, 1e-6),
        check("attention_today.tamed.check_bound", max(over, 0.0), 1e-4),
        check("attention_today.tamed.check_cap", cap_off, 1e-5 * largest(by_hand)),
    ]


def _scores(trace: AttentionTrace) -> Tensor:
    """Return the scores of a trace without a bias, with 0 where a query may not look."""
    return trace.masked.where(trace.masked.isfinite(), 0.0)
