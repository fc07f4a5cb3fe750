"""Checks of a trace against identities that must hold, for the truth badge: each returns the largest deviation."""

import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.core.attention import ScoreMod
from viz.core.heads import MultiHeadTrace


def rows_error(weights: Tensor, masked: Tensor | None = None, nowhere: Tensor | None = None) -> float:
    """Largest deviation of a row's sum from 1; from 0 where all of its masked scores are -inf.

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
    """One additive mask for torch's own attention: all that is added between the scaled scores and the softmax.

    Computed from the options of a layer and not from its trace, so that a mistake of the trace shows. ``q`` (H, Q, d_k)
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


def sdpa_heads(q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None, **options: Any) -> Tensor:
    """Torch's own attention on q (H, Q, d_k), k and v (G, K, d): (H, Q, d_v). ``options`` are those of ``attend``.

    Where no scale is given torch chooses its own, which is 1/sqrt(d_k).
    """
    added = added_to_scores(q, k, scale=scale, **options)
    if (sink := options.get("sink")) is not None:
        return _sdpa_heads_with_sink(q, k, v, sink, added, scale)
    return scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale, enable_gqa=True)


def _sdpa_heads_with_sink(
    q: Tensor, k: Tensor, v: Tensor, sink: Tensor, added: Tensor | None, scale: float | None
) -> Tensor:
    """As :func:`sdpa_heads`, with one more key, of score ``sink`` and value 0."""
    q_heads, n_queries, n_keys = len(q), q.shape[1], k.shape[1]
    added = q.new_zeros(n_queries, n_keys) if added is None else added
    column = sink.reshape(q_heads, -1, 1).to(added.dtype).expand(q_heads, n_queries, 1)
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
    return torch.sigmoid(sink.reshape(len(sink), -1).double() - scores.logsumexp(-1))


def sdpa_weights(q: Tensor, k: Tensor, **options: Any) -> Tensor:
    """Weights of torch's own attention, (H, Q, K): its output when the values are the identity."""
    identity = torch.eye(k.shape[-2], dtype=k.dtype).expand(len(k), -1, -1)
    return sdpa_heads(q, k, identity, **options)


def maps_off(maps: Tensor, head: int, calls: Iterable[tuple[Tensor, Tensor, Mapping[str, Any]]]) -> tuple[float, float]:
    """Deviation of maps (N, Q, K) of one head from torch's own attention, and its tolerance for rounding.

    Each call has q, k and the options of ``attend`` that the map of its place was made with.
    """
    deviations, tolerances = [], []
    for values, (q, k, options) in zip(maps, calls, strict=True):
        deviations.append((sdpa_weights(q, k, **options)[head] - values).abs().amax(-1))
        tolerances.append(1e-5 + 2 * rows_rounding(q, k, **options)[head])
    return largest_ratio(torch.cat(deviations), torch.cat(tolerances))


def scores_rounding(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    """Tolerance for two ways of computing a row's scores, (H, Q): float32 loses a share of what is summed."""
    terms = (q.abs() @ k.abs().repeat_interleave(len(q) // len(k), 0).mT).amax(-1)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return 4 * torch.finfo(torch.float32).eps * scale * terms


def rounding(q: Tensor, k: Tensor, scale: float | None = None) -> float:
    """Tolerance for weights: the exponential passes on what float32 loses in the largest score."""
    return 1e-5 + float(scores_rounding(q, k, scale).max())


FINE = 1e-3
"""For scores that deviate by no more than this, the deviation itself bounds that of the weights."""


def rows_rounding(q: Tensor, k: Tensor, **options: Any) -> Tensor:
    """Bound for the weight of a row that rounding may move, (H, Q), at most 1. ``options`` are those of ``attend``.

    Scores that are off by d move no more than tanh(d), and no more than exp(2d) times what is not on the largest
    weight: where scores of thousands leave one key, rounding does not move the weight away from it.
    """
    drift = scores_rounding(q, k, options.get("scale"))
    if float(drift.max()) <= FINE:
        return drift
    weights = sdpa_weights(q, k, **options)
    remainder = weights.scatter(-1, weights.argmax(-1, keepdim=True), 0.0).sum(-1)
    return torch.minimum(drift.tanh(), (remainder.log() + 2 * drift).exp())


def sdpa_deviation(trace: MultiHeadTrace, **options: Any) -> tuple[float, float]:
    """Deviation of the heads' outputs from torch's own attention on the same q, k and v, and its tolerance.

    ``options`` are those of ``attend``, never the trace's own mask or scale: a wrong mask would agree with itself.
    """
    return heads_off(trace.head_outputs, trace.q, trace.k, trace.v, **options)


def heads_off(outputs: Tensor, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> tuple[float, float]:
    """Deviation of heads' outputs (H, Q, d_v) from torch's own attention, and its tolerance for rounding.

    Both are of the row with the largest ratio of the two. Tolerances differ by row: a row with two nearly equal scores
    of thousands may be anything in between; a row with all its weight on one key must be exact.
    """
    expected = sdpa_heads(q, k, v, **options)
    deviation = (expected - outputs).abs().amax(-1)
    tolerance = 1e-5 * largest(expected) + 2 * largest(v) * rows_rounding(q, k, **options)
    return largest_ratio(deviation, tolerance)


def largest_ratio(deviations: Tensor, tolerances: Tensor) -> tuple[float, float]:
    """Return the deviation and the tolerance with the largest ratio; NaN counts as the largest.

    Example:
        >>> largest_ratio(torch.tensor([3.0, 2.0]), torch.tensor([5.0, 1.0]))
        (2.0, 1.0)
    """
    index = (deviations / tolerances).nan_to_num(torch.inf).argmax()
    return float(deviations.flatten()[index]), float(tolerances.flatten()[index])


def sum_error(trace: MultiHeadTrace) -> float:
    """Deviation of the output from the concatenated heads multiplied by W_O at once."""
    bias = 0 if trace.projections.b_o is None else trace.projections.b_o
    return float((trace.concat @ trace.projections.w_o + bias - trace.output).abs().max())


def largest(values: Tensor) -> float:
    """The size of the numbers compared, to judge a deviation by (at least 1)."""
    is_finite = torch.isfinite(values)
    # To choose numbers is slow, and mostly all of them are finite.
    finite = values if is_finite.all() else values[is_finite]
    return max(1.0, float(finite.abs().max())) if finite.numel() else 1.0


def worst(errors: Iterable[float | Tensor]) -> float:
    """The largest of several deviations, and NaN if any is: Python's ``max`` may pass over one.

    Example:
        >>> max(0.0, math.nan), worst([0.0, math.nan]), worst([])
        (0.0, nan, 0.0)
    """
    return float(torch.tensor([0.0, *map(float, errors)], dtype=torch.float64).max())


def random_place(n: int, *of: object) -> int:
    """Return a number below ``n`` for a check, the same for small frozen values that say what the page shows.

    Example:
        >>> random_place(5, "a text", "row") == random_place(5, "a text", "row")
        True
        >>> {random_place(5, text, "row") for text in range(50)} == set(range(5))
        True
    """
    return int.from_bytes(blake2b(repr(of).encode("utf-8", "replace"), digest_size=8).digest(), "big") % n
