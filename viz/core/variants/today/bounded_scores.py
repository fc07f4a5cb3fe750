"""Scores kept small: a soft cap on them, or a norm on queries and keys, before or after their turn by position."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.attention import ScoreMod
from viz.core.heads import concat_heads, share_kv, split_heads
from viz.core.norm import NormWeights, rms_norm

Turn = Callable[[Tensor], Tensor]
"""Moves queries or keys by position, e.g. :func:`~viz.core.positions.rope`."""
Place = Literal["off", "head", "all_heads", "after_turn"]


def soft_cap(cap: float) -> ScoreMod:
    r"""Make the limit of Gemma 2 on scores: small ones stay, none exceeds c.

    .. math:: s \mapsto c \tanh(s / c)

    Gemma Team 2024, sec. 2. Standard at :math:`c = \infty`.

    Raises:
        ValueError: if ``cap`` is not above 0.

    Example:
        >>> soft_cap(2.0)(torch.tensor([0.1, 100.0]))
        tensor([0.0999, 2.0000])
    """
    if not cap > 0:
        raise ValueError(f"cap={cap} must be above 0")
    return (lambda scaled: scaled) if math.isinf(cap) else lambda scaled: torch.tanh(scaled / cap) * cap


@dataclass(frozen=True, kw_only=True)
class QKNorm:
    r"""A root-mean-square norm on queries and keys, with the gains it has learned.

    .. math:: \hat q = \gamma_q \odot q / \operatorname{rms}(q), \quad \hat k = \gamma_k \odot k / \operatorname{rms}(k)

    ``place`` is "head": each head by itself, before the turn by position (Qwen 3; Gemma 3, which stores
    :math:`\gamma - 1`), gains (d_k,); "all_heads": all heads as one long vector, before the turn (OLMo 2 and 3), gains
    (H d_k,) and (G d_k,); "after_turn": each head by itself, after the turn (Llama 4 and nanochat without gains,
    Hunyuan with); "off": standard attention. A gain of None is 1.

    Henry et al. 2020; Dehghani et al. 2023, sec. 2.
    """

    place: Place
    q_gain: Tensor | None = None
    k_gain: Tensor | None = None
    eps: float = 1e-6


def _norm(x: Tensor, gain: Tensor | None, norm: QKNorm) -> Tensor:
    """Norm queries or keys (*B, heads, T, d) over d, or over all heads at once."""
    rows = concat_heads(x) if norm.place == "all_heads" else x
    gain = torch.ones(rows.shape[-1], dtype=x.dtype) if gain is None else gain
    normed = rms_norm(rows, NormWeights(gain=gain, eps=norm.eps))
    return split_heads(normed, x.shape[-3]) if norm.place == "all_heads" else normed


def norm_queries_and_keys(
    q: Float[Tensor, "*B H Q d_k"],
    k: Float[Tensor, "*B G K d_k"],
    norm: QKNorm,
    *,
    turn: Turn = lambda x: x,
) -> tuple[Float[Tensor, "*B H Q d_k"], Float[Tensor, "*B G K d_k"]]:
    """Norm queries and keys where ``norm.place`` says, and turn them by position; attend with what is returned.

    Args:
        q: queries.
        k: keys, not yet shared.
        norm: where, and the gains.
        turn: moves queries and keys by position, e.g. RoPE.

    Example:
        >>> q, k = norm_queries_and_keys(torch.tensor([[[3.0, 4.0]]]), torch.ones(1, 1, 2), QKNorm(place="head"))
        >>> q.square().mean(-1).round(decimals=4), k.round(decimals=4)
        (tensor([[1.]]), tensor([[[1., 1.]]]))
    """
    if norm.place == "off":
        return turn(q), turn(k)
    if norm.place == "after_turn":
        return _norm(turn(q), norm.q_gain, norm), _norm(turn(k), norm.k_gain, norm)
    return turn(_norm(q, norm.q_gain, norm)), turn(_norm(k, norm.k_gain, norm))


def largest_score(
    norm: QKNorm, *, d_k: int, n_heads: int = 1, n_kv_heads: int = 1, pairs: Tensor | None = None
) -> float:
    r"""Return the largest score that normed queries and keys can have, after the division by :math:`\sqrt{d_k}`.

    .. math:: |\hat q \cdot \hat k| / \sqrt{d_k} \;\le\; \sqrt{d_k}\, \max_j |\gamma_{q,j}\, \gamma_{k,j}|

    by Cauchy and Schwarz: a normed vector is :math:`\sqrt{d_k}` long. Two things loosen it. Where a turn follows the
    norm, it mixes the two dimensions of a pair, so that the larger gain of the pair counts on each side. Where all
    heads are normed as one vector, a single head may hold all of its length: :math:`\sqrt{d_k}` becomes
    :math:`\sqrt{H G d_k}`. Infinite if the norm is off.

    Args:
        norm: where, and the gains.
        d_k: width of a head.
        n_heads: H, where all heads are normed as one.
        n_kv_heads: G, likewise.
        pairs: for each pair of dimensions that a later turn mixes their two numbers, (d_k / 2, 2); None: no turn, or
            one before the norm.

    Example:
        >>> largest_score(QKNorm(place="head", q_gain=torch.tensor([1.0, 3.0, 1.0, 1.0])), d_k=4)
        6.0
    """
    if norm.place == "off":
        return math.inf
    length = d_k * math.sqrt(n_heads * n_kv_heads) if norm.place == "all_heads" else d_k
    gains = []
    for gain, heads in ((norm.q_gain, n_heads), (norm.k_gain, n_kv_heads)):
        sizes = torch.ones(d_k) if gain is None else gain.abs()
        rows = sizes.unflatten(0, (-1, d_k)).expand(heads, d_k)
        if pairs is not None and norm.place != "after_turn":
            rows = rows.clone()
            rows[:, pairs] = rows[:, pairs].amax(-1, keepdim=True).expand(-1, -1, 2)
        gains.append(share_kv(rows[:, None], n_heads))
    return float((gains[0] * gains[1]).max()) * length / math.sqrt(d_k)
