"""Multi-head latent attention: the keys and values of a layer out of one short vector a token, which is cached."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.share_kv import compute
from pages.share_kv.context import ShareKvContext, choose_head, draw_groups, map_pair, say_cut, spec_with
from viz import limits
from viz.components.bars import BarChart
from viz.core.analysis.checks import maps_off, worst
from viz.core.cost.mixed import LatentCost, cache_bytes
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head
from viz.core.nested import double
from viz.core.positions import rope
from viz.core.variants.kv_sharing import divisors
from viz.core.variants.today.latent import LatentSpec, LatentTrace, LatentWeights, attend_absorbed, attend_latent
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.lazy import lazy
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.params import Choice, Int

LATENT = r"""\begin{gathered}
c = X W_{DKV}, \qquad k_h = c\, W_{UK,h}, \qquad v_h = c\, W_{UV,h}
\\ q_h \cdot (c\, W_{UK,h}) = (q_h W_{UK,h}^\top) \cdot c
\\ \textstyle\sum_j a_j (c_j W_{UV,h}) = \big(\sum_j a_j c_j\big) W_{UV,h}
\end{gathered}"""

DEEPSEEK_V3 = LatentSpec(d_model=7168, n_heads=128, d_latent=512, d_nope=128, d_rope=64, d_value=128)
DEEPSEEK_V3_LAYERS = 61

MLA_FORM = Choice("mla_form", among=("plain", "absorbed"))
MLA_WIDTH = Int("mla_width", lambda layer: layer.equal_width, low=1, high=lambda layer: layer.widest)
FORMS = {"plain": attend_latent, "absorbed": attend_absorbed}


@dataclass(frozen=True, kw_only=True)
class LatentLayer:
    """A layer as it was trained, on the first tokens in float64, and the same layer behind a latent vector."""

    x: Tensor
    allowed: Tensor | None
    weights: HeadWeights
    latent: LatentWeights
    n_kv_heads: int

    @property
    def pair_width(self) -> int:
        """Numbers of one key and one value."""
        return self.weights.spec.d_k + self.weights.spec.d_v

    @property
    def widest(self) -> int:
        """Width from which a latent vector loses nothing."""
        return self.latent.spec.d_latent

    @property
    def equal_width(self) -> int:
        """Width at which a token takes as many numbers as with the G of the page."""
        return min(self.widest, self.n_kv_heads * self.pair_width)

    @lazy
    def standard(self) -> MultiHeadTrace:
        """Every step of the layer with keys and values of its own."""
        return self.attend(self.weights)

    def attend(self, weights: HeadWeights) -> MultiHeadTrace:
        """Attend with standard weights."""
        return multi_head(self.x, self.x, weights, allowed=self.allowed)

    def with_width(self, width: int, form: str = "plain") -> LatentTrace:
        """Attend with a latent vector of this width, in one of the forms."""
        return FORMS[form](self.x, narrow(self.latent, width), allowed=self.allowed)

    def error(self, output: Tensor) -> float:
        """Return the length of an output's deviation, as a share of the layer's own output."""
        standard = self.standard.output
        return float((output - standard).norm() / standard.norm().clamp(min=1e-12))


def narrow(weights: LatentWeights, width: int) -> LatentWeights:
    """Keep the first numbers of a latent vector; they come in the order of their singular values."""
    spec = replace(weights.spec, d_latent=width)
    up_k, up_v = weights.w_up_k[:width], weights.w_up_v[:width]
    return replace(weights, spec=spec, w_down=weights.w_down[:, :width], w_up_k=up_k, w_up_v=up_v)


def open_layer(context: ShareKvContext) -> LatentLayer:
    """Return the chosen layer on the first tokens; its biases are read from a number of 1 that ends each token."""
    scene, n = context.scene, min(len(context.scene.labels), limits.SHARED_TOKENS)
    choice, allowed, x = scene.choice, context.layer_options.get("allowed"), scene.trace.x[:n].double()
    weights, latent = compute.latent_layer(choice.source, choice.layer)
    if weights.spec.d_model > x.shape[-1]:
        x = torch.cat([x, torch.ones_like(x[:, :1])], -1)
    allowed = None if allowed is None else allowed[..., :n, :n]
    return LatentLayer(x=x, allowed=allowed, weights=weights, latent=latent, n_kv_heads=context.n_kv_heads)


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the numbers that each way of sharing caches, and a head's map behind a latent vector."""
    t, layer, picture, finding = context.t, open_layer(context), st.container(), st.container()
    head = choose_head(context, context.spec.H)
    width = MLA_WIDTH.slider(t("share_kv.latent.width"), layer)
    form = MLA_FORM.segments(t("share_kv.latent.form"), says=lambda code: t(f"share_kv.latent.{code}"))
    trace = layer.with_width(width, form)
    with picture:
        _show_widths(context, layer, width)
        titles = [t("share_kv.latent.map_standard", head=head), t("share_kv.latent.map_latent", head=head, c=width)]
        maps = torch.stack([layer.standard.weights[head], trace.attention.weights[head]]).float()
        maps_in_browser = map_pair(t, titles, maps, context.scene.labels[: len(layer.x)], key="latent_maps")
        say_cut(context)
    with finding:
        _say_errors(context, layer, width, trace)
    draw_groups(context)
    s = layer.weights.spec
    st.text(t(f"share_kv.latent.shapes_{form}", H=s.H, n=len(layer.x), c=width, d_k=s.d_k, d_v=s.d_v))
    place = st.empty()
    if context.is_model and context.n_kv_heads < context.kv_heads_before:
        place.caption(t("share_kv.latent.as_trained", own=context.kv_heads_before))
    if has_own_scores(context):
        st.caption(t("share_kv.latent.own_scores"))
    if context.scene.call.is_changed:
        st.caption(t("share_kv.latent.unturned"))
    _say_deepseek(context)
    return [*_checks(layer, width, trace), *_shown_checks(context, layer, width, maps_in_browser, head)]


def has_own_scores(context: ShareKvContext) -> bool:
    """Return True if the layer's weights are not the softmax of its scores divided by the root of d_k."""
    options, root = context.scene.call.options, context.spec.d_k**-0.5
    is_by_root = math.isclose(options.get("scale") or root, root, rel_tol=1e-6)
    return not is_by_root or any(options.get(name) is not None for name in ("bias", "score_mod"))


def ways(context: ShareKvContext, layer: LatentLayer, width: int) -> dict[str, int]:
    """Return the numbers that each way of sharing caches for a token, from MHA to MQA, and MLA."""
    specs = [spec_with(layer.weights.spec, g) for g in reversed(divisors(layer.weights.spec.H))]
    numbers = {f"G = {spec.G} · {spec.kind}": spec.G * layer.pair_width for spec in specs}
    return numbers | {f"c = {width} · MLA": width}


def _show_widths(context: ShareKvContext, layer: LatentLayer, width: int) -> None:
    t, numbers = context.t, ways(context, layer, width)
    chart = BarChart(
        list(numbers),
        {t("share_kv.latent.numbers"): torch.tensor([float(count) for count in numbers.values()])},
        title=t("share_kv.latent.way"),
        value_title=t("share_kv.latent.numbers"),
        height=220,
    )
    alt = "; ".join(f"{name}: {count}" for name, count in numbers.items())
    show_bars(chart, key="latent_widths", alt=t("share_kv.latent.widths_alt", numbers=alt))


def _say_errors(context: ShareKvContext, layer: LatentLayer, width: int, trace: LatentTrace) -> None:
    """Say how far the output is off, beside a pooling into key/value heads that cache no more."""
    t, unshared = context.t, layer.weights.spec.G * layer.pair_width
    say(t("share_kv.latent.says", c=width, all=unshared, off=share(layer.error(trace.output))))
    G = layer.weights.spec.G
    fitting = [g for g in divisors(G) if g < G and g * layer.pair_width <= width]
    if fitting:
        pooled = layer.error(layer.attend(HeadWeights.from_mha(layer.weights, fitting[-1])).output)
        st.caption(
            t("share_kv.latent.pooled", G=fitting[-1], numbers=fitting[-1] * layer.pair_width, off=share(pooled))
        )


def _say_deepseek(context: ShareKvContext) -> None:
    layers = [LatentCost(spec=DEEPSEEK_V3)] * DEEPSEEK_V3_LAYERS
    token, unshared = cache_bytes(layers, n_tokens=1), 2 * DEEPSEEK_V3_LAYERS * DEEPSEEK_V3.expanded_width
    values = {"numbers": DEEPSEEK_V3.cache_width, "all": amount(DEEPSEEK_V3.expanded_width), "times": unshared // token}
    st.caption(context.t("share_kv.latent.deepseek", bytes=amount(token), unshared=amount(unshared), **values))


def _checks(layer: LatentLayer, width: int, trace: LatentTrace) -> list[Check]:
    lossless = layer.with_width(layer.widest).output - layer.standard.output
    forms = layer.with_width(width, "plain").output - layer.with_width(width, "absorbed").output
    cached = trace.latent.numel() + trace.rope_key.numel() - len(layer.x) * width
    token = torch.empty(DEEPSEEK_V3_LAYERS, 512 + 64, dtype=torch.bfloat16, device="meta").nbytes
    off_token = cache_bytes([LatentCost(spec=DEEPSEEK_V3)] * DEEPSEEK_V3_LAYERS, n_tokens=1) - token
    return [
        check("share_kv.latent.check_standard", lossless.abs().max(), 1e-6, c=layer.widest),
        check("share_kv.latent.check_forms", forms.abs().max(), 1e-6, c=width),
        check("share_kv.latent.check_rope", rope_error(layer), 1e-6),
        check("share_kv.latent.check_cached", abs(cached), 0, c=width),
        check("share_kv.latent.check_deepseek", abs(off_token), 0, bytes=amount(token)),
    ]


def _shown_checks(
    context: ShareKvContext, layer: LatentLayer, width: int, maps_in_browser: Tensor, head: int
) -> list[Check]:
    """Check that it is the layer that was chosen, its nearest latent vector, the bars, and the maps as shown."""
    s, projections = layer.weights.spec, context.scene.trace.projections
    pairs = (layer.weights.w_k, projections.w_k), (layer.weights.w_v, projections.w_v)
    off_weights = worst((read[: len(w)] - w).abs().max() for read, w in pairs)
    counts = [g * s.d_k + g * s.d_v for g in range(s.H, 0, -1) if s.H % g == 0] + [len(layer.latent.w_up_k[:width])]
    wrong = sum(a != b for a, b in zip(ways(context, layer, width).values(), counts, strict=True))
    off, tolerance = maps_off(
        maps_in_browser, head, [(*heads, {"allowed": layer.allowed}) for heads in _heads(layer, width)]
    )
    return [
        check("share_kv.latent.check_layer", off_weights, 1e-6),
        check("share_kv.latent.check_nearest", rank_error(layer, width), 1e-6, c=width),
        check("share_kv.latent.check_ways", wrong, 0),
        check("share_kv.latent.check_maps", off, tolerance, head=head),
    ]


def _heads(layer: LatentLayer, width: int) -> list[tuple[Tensor, Tensor]]:
    """Return q and k (H, T, d_k) of the layer, and those behind a latent vector of this width: products alone."""
    w, latent = layer.weights, layer.latent
    keys = [layer.x @ w.w_k, layer.x @ latent.w_down[:, :width] @ latent.w_up_k[:width]]
    q = (layer.x @ w.w_q).unflatten(-1, (w.spec.H, -1)).transpose(0, 1)
    return [(q, k.unflatten(-1, (-1, w.spec.d_k)).transpose(0, 1)) for k in keys]


def rank_error(layer: LatentLayer, width: int) -> float:
    """Return what a latent vector loses of W_K and W_V beyond what it must (Eckart and Young), as a share of all."""
    w, short = layer.weights, narrow(layer.latent, width)
    G, repeats = w.spec.G, w.spec.H // w.spec.G
    loss = w.w_k.new_zeros(())
    for up, exact in ((short.w_up_k, w.w_k), (short.w_up_v, w.w_v)):
        for_every_head = exact.unflatten(-1, (G, -1)).repeat_interleave(repeats, -2).flatten(-2)
        loss += (short.w_down @ up - for_every_head).square().sum() / repeats
    squares = torch.linalg.svdvals(torch.cat([w.w_k, w.w_v], -1)).square()
    return float((loss - squares[width:].sum()).abs() / squares.sum())


def rope_error(layer: LatentLayer) -> float:
    """Return the difference of the forms with a norm and a key turned by RoPE, as DeepSeek has them: seeded weights."""
    s = layer.weights.spec
    spec = LatentSpec(d_model=layer.x.shape[-1], n_heads=s.H, d_latent=24, d_nope=s.d_k, d_rope=8, d_value=s.d_v)
    weights = double(LatentWeights.random(spec, seed=0))
    options: dict[str, Any] = {"turn": partial(rope, pairing="adjacent"), "allowed": layer.allowed}
    x = torch.nn.functional.layer_norm(layer.x, layer.x.shape[-1:])
    plain, absorbed = (attend(x, weights, **options).output for attend in (attend_latent, attend_absorbed))
    return float((plain - absorbed).abs().max())
