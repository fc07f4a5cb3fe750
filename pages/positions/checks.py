"""Independent computations of positional encodings: complex numbers, and each paper's formula."""

import math
from bisect import bisect_right
from collections.abc import Mapping

import torch
from torch import Tensor

from pages.positions.compute import encoded
from pages.positions.context import PositionsContext
from viz.core.analysis.checks import largest, worst
from viz.core.mistakes.masks import sdpa_weights
from viz.core.positions import Pairing
from viz.frame.checks import Check, check
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.specs import Placing

T5_BORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)
"""Distances at which T5's next bucket begins: one each up to 8, then 8 * 2**(j/2), rounded up."""


def clock_hands(places: Tensor, width: int, base: float) -> Tensor:
    """Every pair's hand as a complex number of length 1, turned by place / base^(2j/D); (places, D/2)."""
    speeds = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(base) / width))
    angles = places[:, None].double() * speeds
    return torch.polar(torch.ones_like(angles), angles)


def sinusoids_by_hand(n: int, width: int, base: float) -> Tensor:
    """Return the table of sinusoids (n, width) by its formula, in float64."""
    hands = clock_hands(torch.arange(n), width, base)
    return torch.stack([hands.imag, hands.real], dim=-1).flatten(-2)


def sinusoids_error(rows: Tensor, base: float) -> float:
    """Return the error of a table of sinusoids (T, D) against its formula."""
    n, width = rows.shape
    return float((rows - sinusoids_by_hand(n, width, base)).abs().max())


def rope_scores(q: Tensor, k: Tensor, offset: Tensor, *, base: float, pairing: Pairing) -> Tensor:
    """Return RoPE's unscaled scores of queries (*B, d_k) and keys (*B, d_k) that are ``offset`` apart (*B).

    Pairs as complex numbers: the real part of q_j times the conjugate of k_j, turned by minus the offset.
    """

    def pairs(x: Tensor) -> Tensor:
        if pairing == "adjacent":
            return torch.complex(x[..., 0::2].double(), x[..., 1::2].double())
        return torch.complex(*x.double().chunk(2, dim=-1))

    hands = clock_hands(-offset.flatten(), q.shape[-1], base).view(*offset.shape, -1)
    return (pairs(q) * pairs(k).conj() * hands).real.sum(-1)


def alibi_slope(head: int, n_heads: int) -> float:
    """Return the slope m of a head, counted from 0: 2^(-8h/H) with h from 1.

    Beyond a power of two, every second slope of the next one.
    """
    lower = 2 ** (n_heads.bit_length() - 1)
    return 2 ** (-8 * (head + 1) / lower) if head < lower else 2 ** (-4 * (2 * (head - lower) + 1) / lower)


def t5_bucket(offset: int) -> int:
    """Return the bucket of an offset, out of 32: 0 to 15 for keys at or before the query, 16 to 31 for later ones."""
    return bisect_right(T5_BORDERS, abs(offset)) + (16 if offset > 0 else 0)


def bias_of(code: str, offset: Tensor, placing: Placing, *, head: int, n_heads: int, seed: int) -> Tensor:
    """Return a bias at each offset (key minus query): ALiBi's, T5's random one, the quadratic one."""
    if code == "alibi":
        return -alibi_slope(head, n_heads) * offset.abs().float()
    if code == "quadratic":
        return -placing.alpha * (offset - placing.delta).float() ** 2
    biases = torch.randn(32, n_heads, generator=torch.Generator().manual_seed(seed))[:, head]
    return torch.tensor([float(biases[t5_bucket(distance)]) for distance in offset.flatten().tolist()]).view(
        offset.shape
    )


def content_by_hand(x: Tensor, seed: int, head: int, n_heads: int) -> Tensor:
    """Return the bias from content of one head, (T, T), pair by pair in float64, from numbers drawn anew."""
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(n_heads, x.shape[1], 16, generator=generator)[head].double() / x.shape[1] ** 0.5
    profiles = torch.randn(16, len(x), generator=generator).double() / 4
    centred = x.double() - x.double().mean(-1, keepdim=True)
    states = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() @ w
    bias = torch.zeros(len(x), len(x), dtype=torch.float64)
    for i, state in enumerate(states):
        shortened = state * min(1.0, 8 / max(float(state.norm()), 1e-12))
        for j in range(i + 1):
            bias[i, j] = shortened @ profiles[:, i - j]
    return bias


BIASES = ("alibi", "t5", "quadratic", "content")
"""Encodings that only add to the scores."""
TURNS: dict[str, Pairing] = {"rope_adjacent": "adjacent", "rope_halves": "halves"}
"""Encodings that rotate queries and keys."""


def asked_scale(context: PositionsContext) -> float:
    """Return the factor of the source's scores: its own scale, or the paper's."""
    scale: float | None = context.unplaced.calls[0].options.get("scale")
    return scale or 1 / math.sqrt(context.spec.d_k)


def scores_by_hand(context: PositionsContext, code: str) -> Tensor:
    """Return the head's scores under an encoding from its q and k, (T, T), without the core's attention."""
    options, n = context.unplaced.calls[0].options, context.n
    # An encoding that is added to the words is in q and k already.
    added = code not in (*BIASES, *TURNS)
    queries, keys, _ = encoded(context.scene.choice.source, context.with_positions(code if added else "none"))
    q, k = queries[context.head], keys[context.head * len(keys) // len(queries)]
    offset = torch.arange(n) - torch.arange(n)[:, None]
    if code in TURNS:
        rows, columns = q[:, None].expand(n, n, -1), k[None].expand(n, n, -1)
        products = rope_scores(rows, columns, offset, base=context.placing.base, pairing=TURNS[code])
    else:
        products = q.double() @ k.double().T
    scores = products * asked_scale(context)
    if (score_mod := options.get("score_mod")) is not None:
        scores = score_mod(scores)
    if code == "content":
        call = context.unplaced.calls[0]
        return scores + content_by_hand(call.x, context.scene.choice.source.seed, context.head, context.spec.H)
    if code in BIASES:
        seed, H = context.scene.choice.source.seed, context.spec.H
        scores = scores + bias_of(code, offset, context.placing, head=context.head, n_heads=H, seed=seed)
    return scores


def asked_mask(context: PositionsContext) -> Tensor | None:
    """Return the model's own mask and the user's, by its rule; None where both leave everything visible."""
    rule = mask_by_rule(context.scene.choice.mask, context.n, context.n)
    mask: Tensor | None = with_mask({"allowed": context.model_allowed}, rule)["allowed"]
    return mask


def map_checks(
    context: PositionsContext,
    scores: Mapping[str, Tensor],
    weights: Mapping[str, Tensor],
    allowed: Tensor | None = None,
) -> list[Check]:
    """Check the scores of these encodings by hand, and torch's softmax of them under a mask."""
    off = []
    for code, recomputed in scores.items():
        by_hand = scores_by_hand(context, code)
        off.append(float((recomputed - by_hand).abs().max()) / largest(by_hand))
    return [check("positions.check_scores", worst(off), 1e-5), softmax_check(context, scores, weights, allowed)]


def softmax_check(
    context: PositionsContext, scores: Mapping[str, Tensor], weights: Mapping[str, Tensor], allowed: Tensor | None
) -> Check:
    """Check weights by torch's softmax of the scores under a mask."""
    everywhere = torch.ones(context.n, context.n, dtype=torch.bool) if allowed is None else allowed
    off = ((sdpa_weights(scores[code], everywhere) - weights[code]).abs().max() for code in scores)
    return check("positions.check_torch", worst(off), 1e-5)
