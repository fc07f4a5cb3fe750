"""Sinks: a share of each row that goes to no word, so that the first token need not take it."""

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.maps import show_maps
from pages.attention_today.models import show_users
from pages.attention_today.parameters import NOBODY, SIGMA, STANDARD
from pages.attention_today.trained import describe
from viz.components.bars import BarChart
from viz.core.analysis.checks import heads_off, largest, maps_off, sink_share
from viz.core.attention import attend
from viz.core.nested import double
from viz.core.variants.today.sinks import first_token_share, gate_by_sink, softmax_off_by_one, word_share
from viz.frame.checks import Check, check
from viz.frame.format import number, share
from viz.frame.modes import say
from viz.frame.show import show_bars

SINK = (
    r"A_{ij} = \frac{e^{s_{ij}}}{e^{\sigma_h} + \sum_m e^{s_{im}}}, \qquad "
    r"o_i = \operatorname{sigmoid}\Big(\log \sum_j e^{s_{ij}} - \sigma_h\Big)\, o_i^{\text{standard}}"
)


def draw(context: TodayContext) -> list[Check]:
    """One head's map with and without a sink, and the first token's share in every head."""
    t, pictures, finding = context.t, st.container(), st.container()
    sink = _chosen_sink(context)
    after, nobody = context.layer.attend(sink=sink), share_of_nobody(context.standard.masked, sink)
    with pictures:
        maps = _show_maps(context, after.weights, nobody[context.head])
    if context.n < 2:
        finding.info(t("attention_today.nobody.one_word"))
    else:
        with finding:
            _say_shares(context, after.weights, nobody)
            _say_own(context)
        _show_heads(context, after.weights, nobody)
        _compare_untrained(context)
    say(describe(t, "sink"))
    show_users(t, "sink")
    return [*_checks(context, after.output, sink), *_shown_checks(context, maps, after.weights, sink)]


def _chosen_sink(context: TodayContext) -> Tensor:
    """Draw the switch, and where a sink is not the model's own its slider; return each head's sink (H,), or rows'."""
    t, model_sink = context.t, context.layer.sink
    names = {"learned": "learned" if model_sink is None else "own"}
    kind = NOBODY.segments(
        t("attention_today.nobody.switch"), says=lambda code: t(f"attention_today.nobody.{names.get(code, code)}")
    )
    default, label = equal_sink(context.standard.masked[context.head]), t("attention_today.nobody.sigma")
    is_free = kind == "word" or (kind == "learned" and model_sink is None)
    sigma = SIGMA.slider(label, default, step=0.5) if is_free else SIGMA.read(default)
    if kind == "learned" and model_sink is not None:
        return model_sink
    if kind == "word":
        return sigma + sink_of_words(context.layer)
    score = {"by_one": 0.0, "learned": sigma, STANDARD: -torch.inf}[kind]
    return torch.full((len(context.layer.q),), score)


def sink_of_words(layer: Layer) -> Tensor:
    """Return w · x for each head and word, (H, T), about N(0, 1): w is drawn at random."""
    x = torch.nn.functional.layer_norm(layer.x, layer.x.shape[-1:])
    w = torch.randn(x.shape[-1], len(layer.q), generator=torch.Generator().manual_seed(0)) / x.shape[-1] ** 0.5
    return (x @ w).T


def equal_sink(masked: Tensor) -> float:
    """Return the sink's score, in steps of 0.5, that weighs as much as a mean row of scores (Q, K): about half of it.

    Any fixed score would take all of one head's rows and nothing of another's.
    """
    totals = masked.logsumexp(-1)
    totals = totals[totals.isfinite()]
    score = float(totals.mean()) if totals.numel() else 0.0
    return min(max(round(2 * score) / 2, -10.0), 40.0)


def share_of_nobody(masked: Tensor, sink: Tensor) -> Tensor:
    """Return the share of each row of scores (H, Q, K) that goes to the head's sink, (H, Q); 0 without a sink."""
    return (1 - word_share(masked, sink)) * sink.isfinite().reshape(len(sink), -1)


def _show_maps(context: TodayContext, after: Tensor, nobody: Tensor) -> Tensor:
    """Show the head's map without and with the sink; a last column has what goes to nobody. Return both maps."""
    t, before = context.t, context.standard.weights
    titles = [t(f"attention_today.nobody.map_{which}", head=context.head) for which in ("before", "after")]
    maps = torch.stack([before[context.head], after[context.head]])
    if not nobody.any():  # a second map would be the same one
        return show_maps(context, titles[:1], maps[:1], key="nobody_maps")
    to_nobody = torch.stack([torch.zeros_like(nobody), nobody])[..., None]
    columns = (*context.labels, t("attention_today.nobody.column"))
    return show_maps(context, titles, torch.cat([maps, to_nobody], -1), key="nobody_maps", columns=columns)


def _show_heads(context: TodayContext, after: Tensor, nobody: Tensor) -> None:
    t, before = context.t, context.standard.weights
    series = {t("attention_today.nobody.before"): first_token_share(before)}
    if nobody.any():
        series[t("attention_today.nobody.after")] = first_token_share(after)
        series[t("attention_today.nobody.to_nobody")] = nobody[:, 1:].mean(-1)
    bars = BarChart(
        list(map(str, range(len(before)))),
        series,
        title=t("attention_today.head"),
        value_title=t("attention_today.nobody.share"),
        top=1.0,
        height=200,
    )
    show_bars(bars, key="nobody_bars", alt=t("attention_today.nobody.bars_alt"))


def _say_shares(context: TodayContext, after: Tensor, nobody: Tensor) -> None:
    t, head, standard = context.t, context.head, context.standard
    before, now = (float(first_token_share(weights)[head]) for weights in (standard.weights, after))
    numbers = {"before": share(before), "after": share(now), "nobody": share(float(nobody[head, 1:].mean()))}
    say(t("attention_today.nobody.says", head=head, **numbers))


def _say_own(context: TodayContext) -> None:
    """Say which sink the model's head has learned, and which its layer's heads have."""
    t, sink, head = context.t, context.layer.sink, context.head
    if sink is None:
        return
    values = {"sigma": sink[head], "low": sink.min(), "high": sink.max()}
    say(t("attention_today.nobody.own_says", head=head, **{name: number(float(x)) for name, x in values.items()}))


def _compare_untrained(context: TodayContext) -> None:
    t, head, standard = context.t, context.head, context.standard
    even = standard.masked.isfinite().float()
    even_share = float(first_token_share(even / even.sum(-1, keepdim=True).clamp(min=1))[head])
    values = {"even": share(even_share), "layer": share(float(first_token_share(standard.weights).mean()))}
    if context.is_model:
        key = "seeded" if context.layer.sink is None else "seeded_own"
        st.caption(t(f"attention_today.nobody.{key}", seeded=share(seeded_share(context.layer)), **values))
    else:
        st.caption(t("attention_today.nobody.untrained", **values))


def seeded_share(layer: Layer) -> float:
    """Return the mean share that heads nothing has trained give the first token, on the vectors the layer reads."""
    generator = torch.Generator().manual_seed(0)
    x = torch.nn.functional.layer_norm(layer.x, layer.x.shape[-1:])
    q, k = (
        torch.randn(len(layer.q), x.shape[-1], layer.q.shape[-1], generator=generator) / x.shape[-1] ** 0.5
        for _ in range(2)
    )
    weights = attend(x @ q, x @ k, layer.v, allowed=layer.options.get("allowed")).weights
    return float(first_token_share(weights).mean())


def _checks(context: TodayContext, output: Tensor, sink: Tensor) -> list[Check]:
    layer, standard = context.layer, context.standard
    exact = double(layer)
    off = exact.attend(sink=sink.double().fill_(-torch.inf)).output - exact.attend().output
    gated = gate_by_sink(standard.output, standard.masked, sink)
    by_one = layer.attend(sink=torch.zeros_like(sink)).weights - softmax_off_by_one(standard.masked)
    checks = [
        check("attention_today.nobody.check_standard", off.abs().max(), 1e-6),
        check("attention_today.nobody.check_gate", (gated - output).abs().max(), 1e-5 * largest(output)),
        check("attention_today.nobody.check_one", by_one.abs().max(), 1e-5),
    ]
    if layer.sink is not None and context.n == len(context.scene.labels):
        off_model = layer.attend(sink=layer.sink).weights - context.scene.trace.weights
        checks.append(check("attention_today.nobody.check_own", off_model.abs().max(), 1e-5))
    if layer.options.get("score_mod") is None:
        options = {**layer.options, "sink": sink}
        checks.append(check("truth.sdpa", *heads_off(output, layer.q, layer.k, layer.v, **options)))
    return checks


def _shown_checks(context: TodayContext, maps: Tensor, after: Tensor, sink: Tensor) -> list[Check]:
    """Check the maps as they are shown, what goes to nobody included, and the shares in the bars."""
    layer, head, n = context.layer, context.head, context.n
    with_sink = {**layer.options, "sink": sink}
    nowhere = sink_share(layer.q, layer.k, **with_sink)
    calls = [(layer.q, layer.k, options) for options in (layer.options, with_sink)]
    off, tolerance = maps_off(maps[..., :n], head, calls[: len(maps)])
    assert nowhere is not None
    off_column = (maps[-1, :, n:] - nowhere[head, :, None].nan_to_num(0.0)[:, : len(maps) - 1]).abs().sum()
    checks = [
        check("attention_today.nobody.check_maps", off, tolerance),
        check("attention_today.nobody.check_column", off_column, tolerance),
    ]
    if n > 1:
        off_share = (first_token_share(after) - after[:, 1:, 0].mean(-1)).abs().max()
        checks.append(check("attention_today.nobody.check_first", off_share, 1e-6))
    return checks
