"""Sharing of keys and values among heads: pooling by averaging, the classic mistake, one step of decoding."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from viz.core.attention import AttentionTrace, ScoreMod, attend
from viz.core.heads import share_kv

Share = Callable[[Tensor, int], Tensor]
"""Takes key or value heads (G, K, d) and H to one for each query head, (H, K, d): right or wrong."""


def divisors(n: int) -> list[int]:
    """The numbers of groups that n heads can form, one first.

    Example:
        >>> divisors(12)
        [1, 2, 3, 4, 6, 12]
    """
    return [g for g in range(1, n + 1) if n % g == 0]


def kv_head_of(n_heads: int, n_kv_heads: int, share: Share = share_kv) -> list[int]:
    r"""Key/value head that each query head reads: :math:`\lfloor i G / H \rfloor`, if ``share`` does it right.

    Found by sharing the heads' own numbers.

    Example:
        >>> kv_head_of(6, 2)
        [0, 0, 0, 1, 1, 1]
    """
    return [int(number) for number in share(torch.arange(n_kv_heads)[:, None, None].float(), n_heads).flatten()]


def repeat_kv(x: Float[Tensor, "*B G K d"], n_heads: int) -> Float[Tensor, "*B H K d"]:
    """The classic mistake: the whole set of heads again and again (0 1 0 1, not 0 0 1 1). Same shapes, wrong pairs.

    Example:
        >>> repeat_kv(torch.tensor([[[1.0]], [[2.0]]]), 4).flatten()
        tensor([1., 2., 1., 2.])
    """
    return torch.cat([x] * (n_heads // x.shape[-3]), dim=-3)


def attend_shared(
    q: Float[Tensor, "H Q d_k"],
    k: Float[Tensor, "G K d_k"],
    v: Float[Tensor, "G K d_v"],
    *,
    share: Share = share_kv,
    allowed: Bool[Tensor, "*M #Q #K"] | None = None,
    bias: Float[Tensor, "*A #Q #K"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
) -> AttentionTrace:
    """Attend with H query heads over G key/value heads, shared out by ``share``; the rest as in ``attend``."""
    keys, values = share(k, len(q)), share(v, len(q))
    return attend(q, keys, values, allowed=allowed, bias=bias, scale=scale, score_mod=score_mod)


def pool_heads(x: Float[Tensor, "G K d"], n_kv_heads: int) -> Float[Tensor, "g K d"]:
    """Average neighbouring key or value heads into fewer (Ainslie et al. 2023, sec. 2.1).

    The mean of X W over a group is X times the mean of W: pooling heads is pooling weights, also after RoPE, which
    turns all heads alike.

    Raises:
        ValueError: if the number of heads is not a multiple of ``n_kv_heads``.

    Example:
        >>> pool_heads(torch.tensor([[[1.0]], [[3.0]]]), 1)
        tensor([[[2.]]])
    """
    if n_kv_heads < 1 or len(x) % n_kv_heads:
        raise ValueError(f"n_kv_heads={len(x)} cannot be pooled into n_kv_heads={n_kv_heads}")
    return x.unflatten(0, (n_kv_heads, -1)).mean(1)


def attend_mqa(
    q: Float[Tensor, "H Q d_k"],
    k: Float[Tensor, "K d_k"],
    v: Float[Tensor, "K d_v"],
    *,
    masked_by: Float[Tensor, "*A Q K"] | float = 0.0,
    scale: float | None = None,
) -> Float[Tensor, "H Q d_v"]:
    r"""Multi-query attention on its own, as Shazeer 2019 writes it: one set of keys and values, no copy for each head.

    Kept apart from :func:`~viz.core.heads.multi_head` to check it, with its own softmax.
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = torch.einsum("hqd,kd->hqk", q, k) * scale + masked_by
    shares = (scores - scores.amax(-1, keepdim=True)).exp()
    return torch.einsum("hqk,kv->hqv", shares / shares.sum(-1, keepdim=True), v)


def decode_step(
    q: Float[Tensor, "H d_k"],
    keys: Float[Tensor, "G K d_k"],
    values: Float[Tensor, "G K d_v"],
    *,
    bias: Float[Tensor, "H K"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
    sink: Float[Tensor, " H"] | None = None,
) -> Float[Tensor, "H d_v"]:
    """One new token asks all tokens in the cache. Each group's keys and values are read once, for all its query heads.

    The cache has the new token's own key and value last; the options are those of :func:`~viz.core.attention.attend`.

    Example:
        >>> decode_step(torch.zeros(2, 3), torch.ones(1, 5, 3), torch.ones(1, 5, 1)).round(decimals=4)
        tensor([[1.],
                [1.]])
    """
    groups = (len(keys), -1)
    bias, sink = (None if x is None else x.unflatten(0, groups) for x in (bias, sink))
    trace = attend(q.unflatten(0, groups), keys, values, bias=bias, scale=scale, score_mod=score_mod, sink=sink)
    return trace.output.flatten(0, 1)


def after_earlier_mention(ids: Int[Tensor, " T"]) -> Bool[Tensor, "T T"]:
    """Mark the keys of an induction head: True at each token that followed an earlier mention of the query's token.

    Example:
        >>> after_earlier_mention(torch.tensor([4, 7, 4])).int()
        tensor([[0, 0, 0],
                [0, 0, 0],
                [0, 1, 0]], dtype=torch.int32)
    """
    follows = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    follows[:, 1:] = ids[:, None] == ids[None, :-1]
    return follows.tril()


def induction(weights: Float[Tensor, "H T T"], ids: Int[Tensor, " T"]) -> Float[Tensor, " H"]:
    """Each head's mean weight on what followed earlier mentions of the query's token; NaN if there are none.

    Example:
        >>> induction(torch.tensor([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.1, 0.7, 0.2]]]), torch.tensor([4, 7, 4]))
        tensor([0.7000])
    """
    keys = after_earlier_mention(ids)
    return (weights * keys).sum(-1)[:, keys.any(-1)].mean(-1)
