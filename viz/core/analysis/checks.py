"""Checks of a trace against what must be true of it, for the truth badge: each gives the largest deviation."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.core.attention import ScoreMod
from viz.core.heads import MultiHeadTrace


def rows_error(weights: Tensor, masked: Tensor | None = None, nowhere: Tensor | None = None) -> float:
    """How far a row's sum is from 1; or from 0, where all of what is added to it (or its masked scores) is -inf.

    ``nowhere`` (H, Q) is the share of a sink, which a row and its sum lack; then no row is expected to sum to 0.
    """
    sums = weights.sum(-1)
    if nowhere is not None:
        return float((sums + nowhere - 1).abs().max())
    expected = torch.ones_like(sums) if masked is None else (masked > -torch.inf).any(-1).to(sums.dtype)
    return float((sums - expected).abs().max())


def added_to_scores(
    q: Tensor,
    k: Tensor,
    *,
    allowed: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
    sink: Tensor | None = None,
) -> Tensor | None:
    """What stands between the scaled scores and the softmax, as torch's own attention takes it: one additive mask.

    From what a layer was asked for, and not from a trace: what is missing there is not missing here. ``q`` (H, Q, d_k)
    and ``k`` (G, K, d_k) are needed for a soft cap alone. A ``sink`` adds nothing to the scores of words.
    """
    added = bias
    if score_mod is not None:
        scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
        scaled = q @ k.repeat_interleave(len(q) // len(k), 0).mT * scale
        capped = score_mod(scaled) - scaled
        added = capped if added is None else capped + added
    if allowed is None:
        return added
    nothing = q.new_zeros(allowed.shape) if added is None else added
    return torch.where(allowed, nothing, -torch.inf)


def torchs_heads(q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None, **options: Any) -> Tensor:
    """Torch's own attention on q (H, Q, d_k), k and v (G, K, d): (H, Q, d_v). ``options`` are those of ``attend``.

    Where no scale is given torch chooses its own, which is 1/sqrt(d_k).
    """
    added = added_to_scores(q, k, scale=scale, **options)
    if (sink := options.get("sink")) is not None:
        return _torchs_heads_with_sink(q, k, v, sink, added, scale)
    return scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale, enable_gqa=True)


def _torchs_heads_with_sink(
    q: Tensor, k: Tensor, v: Tensor, sink: Tensor, added: Tensor | None, scale: float | None
) -> Tensor:
    """The same with one more key, of score ``sink`` and value 0."""
    q_heads, n_queries, n_keys = len(q), q.shape[1], k.shape[1]
    added = q.new_zeros(n_queries, n_keys) if added is None else added
    column = sink[:, None, None].to(added.dtype).expand(q_heads, n_queries, 1)
    added = torch.cat([added.expand(q_heads, n_queries, n_keys), column], -1)
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 1)) for x in (k, v))
    return scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale, enable_gqa=True)


def sink_share(q: Tensor, k: Tensor, *, scale: float | None = None, **options: Any) -> Tensor | None:
    r"""The share of each row that goes to no word, (H, Q); None without a sink.

    .. math:: \sigma(b - \log \sum_m e^{s_m})

    ``options`` are those of ``attend``; nothing is read from a trace.
    """
    if (sink := options.get("sink")) is None:
        return None
    added = added_to_scores(q, k, scale=scale, **options)
    scores = q.double() @ k.double().repeat_interleave(len(q) // len(k), 0).mT
    scores = scores * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    scores = scores if added is None else scores + added
    return torch.sigmoid(sink[:, None].double() - scores.logsumexp(-1))


def torchs_weights(q: Tensor, k: Tensor, **options: Any) -> Tensor:
    """The weights inside torch's own attention, (H, Q, K): with the identity for values it hands them out."""
    identity = torch.eye(k.shape[-2], dtype=k.dtype).expand(len(k), -1, -1)
    return torchs_heads(q, k, identity, **options)


def scores_rounding(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    """How far two ways of computing a row's scores may be apart, (H, Q): float32 loses a share of what is summed."""
    terms = (q.abs() @ k.abs().repeat_interleave(len(q) // len(k), 0).mT).amax(-1)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return 4 * torch.finfo(torch.float32).eps * scale * terms


def rounding(q: Tensor, k: Tensor, scale: float | None = None) -> float:
    """How far weights may be off: what float32 loses in the largest score, the exponential passes on."""
    return 1e-5 + float(scores_rounding(q, k, scale).max())


FINE = 1e-3
"""Scores that are off by no more than this need no closer look at what the softmax makes of it."""


def rows_rounding(q: Tensor, k: Tensor, **options: Any) -> Tensor:
    """How much weight of a row rounding may put elsewhere, (H, Q), at most 1. ``options`` are those of ``attend``.

    Scores that are off by d move no more than tanh(d), and no more than exp(2d) times what is not on the largest
    weight: where scores of thousands leave one key, it stays that key, however much was rounded.
    """
    lost = scores_rounding(q, k, options.get("scale"))
    if float(lost.max()) <= FINE:
        return lost
    weights = torchs_weights(q, k, **options)
    others = weights.scatter(-1, weights.argmax(-1, keepdim=True), 0.0).sum(-1)
    return torch.minimum(lost.tanh(), (others.log() + 2 * lost).exp())


def sdpa_off(trace: MultiHeadTrace, **options: Any) -> tuple[float, float]:
    """How far the heads' outputs are from torch's own attention on the same q, k and v, and how far they may be.

    ``options`` are those of ``attend``, as they were asked for: never the trace's own mask or scale, which would agree
    with themselves if they were wrong.
    """
    return heads_off(trace.head_outputs, trace.q, trace.k, trace.v, **options)


def heads_off(outputs: Tensor, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> tuple[float, float]:
    """How far heads' outputs (H, Q, d_v) are from torch's own attention, and how far they may be for rounding.

    Both are of the row that is farthest off for what it may be. Rows differ: one that is torn between two keys with
    scores of thousands may be anything in between, the next one, which is all on one key, may not be off at all.
    """
    expected = torchs_heads(q, k, v, **options)
    off = (expected - outputs).abs().amax(-1)
    may = 1e-5 * largest(expected) + 2 * largest(v) * rows_rounding(q, k, **options)
    return farthest_off(off, may)


def farthest_off(off: Tensor, may: Tensor) -> tuple[float, float]:
    """Of several deviations and what each may be, those of the one that is largest for what it may be; NaN is.

    Example:
        >>> farthest_off(torch.tensor([3.0, 2.0]), torch.tensor([5.0, 1.0]))
        (2.0, 1.0)
    """
    at = (off / may).nan_to_num(torch.inf).argmax()
    return float(off.flatten()[at]), float(may.flatten()[at])


def sum_error(trace: MultiHeadTrace) -> float:
    """How far the output is from the heads laid side by side and multiplied by W_O in one go."""
    bias = 0 if trace.projections.b_o is None else trace.projections.b_o
    return float((trace.concat @ trace.projections.w_o + bias - trace.output).abs().max())


def largest(values: Tensor) -> float:
    """The size of the numbers compared, to judge a deviation by (at least 1)."""
    finite = values[torch.isfinite(values)]
    return max(1.0, float(finite.abs().max())) if finite.numel() else 1.0


def worst(errors: Iterable[float | Tensor]) -> float:
    """The largest of several deviations, and NaN if any is: Python's ``max`` may pass over one.

    Example:
        >>> max(0.0, math.nan), worst([0.0, math.nan]), worst([])
        (0.0, nan, 0.0)
    """
    return float(torch.tensor([0.0, *map(float, errors)], dtype=torch.float64).max())
