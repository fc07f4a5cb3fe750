"""Deviation of each variant from standard attention at the switch where the two should be equal, on any tokens."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import HeadWeights, multi_head, project, share_kv, split_heads
from viz.core.masks import causal
from viz.core.nested import double
from viz.core.positions import rope
from viz.core.variants.layer_sharing import attend_in_layers
from viz.core.variants.today.angles import (
    partial_rope,
    proportional_frequencies,
    temperatures,
    yarn_frequencies,
    yarn_gain,
)
from viz.core.variants.today.bounded_scores import QKNorm, norm_queries_and_keys, soft_cap
from viz.core.variants.today.chosen_blocks import block_mask, pooled_mask
from viz.core.variants.today.compressed import compress, compressed_mask
from viz.core.variants.today.delta import delta_states
from viz.core.variants.today.differential import attend_differential
from viz.core.variants.today.exclusive import exclude_own_value, exclusive_map
from viz.core.variants.today.gates import attend_gated
from viz.core.variants.today.interleaved import full_layers, interleaved_masks
from viz.core.variants.today.latent import LatentWeights, attend_absorbed, attend_latent
from viz.core.variants.today.linear import linear_map
from viz.core.variants.today.selection import index_scores, top_k_mask
from viz.core.variants.today.sinks import gate_by_sink


@dataclass(frozen=True, kw_only=True)
class Standard:
    """Standard attention on a text, to compare with: tokens (T, d_model), a layer's weights, and its trace.

    q (H, T, d_k), k and v (H, T, d) are those of ``trace``; ``allowed`` is the mask of its heads.
    """

    x: Tensor
    weights: HeadWeights
    allowed: Tensor | None
    trace: AttentionTrace

    @property
    def heads(self) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of every head."""
        return self.trace.q, self.trace.k, self.trace.v

    @property
    def n_tokens(self) -> int:
        """T."""
        return len(self.x)


def standard(
    x: Float[Tensor, "T d_model"], weights: HeadWeights, *, allowed: Bool[Tensor, "*M T T"] | None = None
) -> Standard:
    """Attend in the standard way, for all switches to be compared with; in float64, so that formulas alone count."""
    (x, weights), s = double((x, weights)), weights.spec
    q = split_heads(project(x, weights.w_q, weights.b_q), s.H)
    k, v = (
        share_kv(split_heads(project(x, w, b), s.G), s.H)
        for w, b in ((weights.w_k, weights.b_k), (weights.w_v, weights.b_v))
    )
    return Standard(x=x, weights=weights, allowed=allowed, trace=attend(q, k, v, allowed=allowed))


def _off(standard: Standard, outputs: Tensor) -> float:
    return float((outputs - standard.trace.output).abs().max())


def sink_column(s: Standard) -> float:
    """A sink of -inf, as one more column of the softmax."""
    return _off(s, attend(*s.heads, allowed=s.allowed, sink=s.x.new_full((len(s.trace.q),), -math.inf)).output)


def sink_gate(s: Standard) -> float:
    """A sink of -inf, as a gate by the row's log-sum-exp."""
    sink = s.x.new_full((len(s.trace.q),), -math.inf)
    return _off(s, gate_by_sink(s.trace.output, s.trace.masked, sink))


def cap(s: Standard) -> float:
    """A soft cap far above the scores: a million times the largest, in place of infinity."""
    limit = 1e6 * max(1.0, float(s.trace.scaled.abs().max()))
    return _off(s, attend(*s.heads, allowed=s.allowed, score_mod=soft_cap(limit)).output)


def qk_norm(s: Standard) -> float:
    """The norm of queries and keys off."""
    q, k, v = s.heads
    return _off(s, attend(*norm_queries_and_keys(q, k, QKNorm(place="off")), v, allowed=s.allowed).output)


def gate(s: Standard) -> float:
    """Every gate at 1: a bias of infinity."""
    width = s.weights.spec.H * s.weights.spec.d_v
    w_gate, b_gate = s.x.new_zeros(s.x.shape[-1], width), s.x.new_full((width,), math.inf)
    trace = attend_gated(s.x, s.weights, w_gate, b_gate=b_gate, allowed=s.allowed)
    heads = s.trace.output.transpose(0, 1).flatten(1)
    bias = 0 if s.weights.b_o is None else s.weights.b_o
    return float((trace.output - (heads @ s.weights.w_o + bias)).abs().max())


def differential(s: Standard) -> float:
    """A share of 0: the second map, here of keys in the opposite order, counts for nothing."""
    q, k, v = s.heads
    return _off(s, attend_differential(q, k, q, k.flip(-2), v, share=0.0, allowed=s.allowed).output)


def exclusive(s: Standard) -> float:
    """A share of 0: nothing is taken away along a word's own value, and its map's diagonal stays."""
    v = s.trace.v
    by_map = exclusive_map(s.trace.weights, v, share=0.0) @ v
    return max(_off(s, exclude_own_value(s.trace.output, v, share=0.0)), _off(s, by_map))


def linear(s: Standard) -> float:
    """No switch of its own: without decay it is the unscaled scores of standard attention behind a causal mask."""
    q, k, _ = s.heads
    return float((linear_map(q, k, q.new_zeros(q.shape[:-1])) - s.trace.scores.tril()).abs().max())


def delta(s: Standard) -> float:
    """No decay, β = 1 and keys at right angles: each recalls its value, as attention with an infinite scale does."""
    _, _, v = s.heads
    keys = torch.eye(s.n_tokens, dtype=v.dtype).expand(len(v), -1, -1)
    ones = v.new_ones(v.shape[:-1])
    answers = delta_states(keys * math.sqrt(s.n_tokens), keys, v, beta=ones, steps=0 * ones).output
    sharp = attend(keys, keys, v, allowed=causal(s.n_tokens, s.n_tokens), scale=1e4)
    return float((answers - sharp.output).abs().max())


def latent(s: Standard) -> float:
    """A latent vector wide enough for W_K and W_V, without a norm and without a turned part, in both forms."""
    converted = LatentWeights.from_heads(s.weights)
    return max(
        _off(s, form(s.x, converted, allowed=s.allowed).head_outputs) for form in (attend_latent, attend_absorbed)
    )


def windows(s: Standard) -> float:
    """Windows and chunks as wide as the text, in every layer."""
    q, k, v = s.heads
    full = full_layers(3, period=3)
    want = attend(q, k, v, allowed=causal(s.n_tokens, s.n_tokens)).output
    return max(
        float((attend(q, k, v, allowed=mask).output - want).abs().max())
        for near in ("window", "chunks")
        for mask in interleaved_masks(s.n_tokens, full, size=s.n_tokens, near=near)
    )


def selection(s: Standard) -> float:
    """As many keys kept as there are, or blocks of three, chosen by a scorer made of the heads' own queries."""
    q, k, v = s.heads
    scores = index_scores(q, k[0], s.x.new_ones(s.n_tokens, len(q)))
    masks = (
        top_k_mask(scores, s.n_tokens, allowed=s.allowed),
        block_mask(scores, s.n_tokens, 3, allowed=s.allowed),
        pooled_mask(q, k[0], s.n_tokens, 3, allowed=s.allowed),
    )
    return max(_off(s, attend(q, k, v, allowed=mask).output) for mask in masks)


def compressed(s: Standard) -> float:
    """Entries of one word each, of which the softmax takes all whatever its score, and no words beside them."""
    q, *words = s.heads
    k, v = (compress((y, y, y.new_zeros(1, y.shape[-1]))) for y in words)
    allowed = s.x.new_ones(s.n_tokens, s.n_tokens, dtype=torch.bool) if s.allowed is None else s.allowed
    return _off(s, attend(q, k, v, allowed=compressed_mask(allowed, 1, 0)[..., : s.n_tokens]).output)


def layers(s: Standard) -> float:
    """Three layers, none of which reads another's keys and values; the first is the one to compare with."""
    masks = None if s.allowed is None else s.allowed.expand(3, -1, -1)
    trace = attend_in_layers(s.x, [s.weights] * 3, range(3), allowed=masks)
    x, differences = s.x, [_off(s, trace[0].head_outputs)]
    for layer in trace:
        want = multi_head(x, x, s.weights, allowed=s.allowed).output
        x, differences = x + want, [*differences, float((layer.output - want).abs().max())]
    return max(differences)


def angles(s: Standard) -> float:
    """Every dimension turned, YaRN for texts as long as before, a temperature without gain: RoPE itself, each time."""
    width = max(2, s.trace.q.shape[-1] // 2 * 2)
    q, k = (torch.nn.functional.pad(heads, (0, 2))[..., :width] for heads in s.heads[:2])
    turns: list[Callable[[Tensor], Tensor]] = [
        lambda x: partial_rope(x, width, pairing="halves"),
        lambda x: rope(x, pairing="halves", omega=proportional_frequencies(width, width)),
        lambda x: rope(x, pairing="halves", omega=yarn_frequencies(width, factor=1.0, original=64)) * yarn_gain(1.0),
        lambda x: rope(x, pairing="halves") * temperatures(torch.arange(s.n_tokens), floor=1, gain=0.0)[:, None],
    ]
    want = attend(rope(q, pairing="halves"), rope(k, pairing="halves"), s.trace.v, allowed=s.allowed).output
    outputs = [attend(turn(q), turn(k), s.trace.v, allowed=s.allowed).output for turn in turns]
    return max(float((output - want).abs().max()) for output in outputs)


SWITCHES: Mapping[str, Callable[[Standard], float]] = {
    "sink_column": sink_column,
    "sink_gate": sink_gate,
    "cap": cap,
    "qk_norm": qk_norm,
    "gate": gate,
    "differential": differential,
    "exclusive": exclusive,
    "linear": linear,
    "delta": delta,
    "latent": latent,
    "windows": windows,
    "selection": selection,
    "compressed": compressed,
    "layers": layers,
    "angles": angles,
}
"""By name: the largest difference from standard attention at each variant's switch."""
