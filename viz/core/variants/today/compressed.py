"""Fewer keys than words: an entry for each block of words, as key and value, and a window of words beside them."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from viz.core.attention import AttentionTrace, attend
from viz.core.masks import look_back
from viz.core.positions import rope

Series = tuple[Tensor, Tensor, Tensor]
"""Words as entries read them: content C (*B, T, d), scores Z (*B, T, d), and a bias B (m, d) for places in a block."""


def compress(series: Series, *, earlier: Series | None = None) -> Float[Tensor, "*B N d"]:
    r"""Make an entry of each full block of m words: of each number a mean, its weights a softmax over the words.

    .. math:: c_e = \sum_{t \in e} \operatorname{softmax}_t(Z_t + B_{t - em}) \odot C_t

    DeepSeek-V4 2026: m = 128, then a norm and RoPE at the block's first place. Where m = 4 it overlaps: one softmax
    over 2m places, those of the block before by a series of their own (``earlier``; the first block has none). Words
    that fill no block are left out. With Z = B = 0 an entry is the mean; standard at m = 1.

    Example:
        >>> c = torch.tensor([[1.0], [3.0], [5.0], [9.0], [2.0]])
        >>> compress((c, 0 * c, torch.zeros(2, 1))).flatten(), compress((c, c, torch.tensor([[99.0], [0.0]]))).flatten()
        (tensor([2., 7.]), tensor([1., 5.]))
    """
    content, scores = _blocks(series)
    if earlier is not None:
        before = (
            pad(y[..., :-1, :, :], (0, 0, 0, 0, 1, 0), value=value)
            for y, value in zip(_blocks(earlier), (0.0, -torch.inf), strict=True)
        )
        content, scores = (torch.cat(pair, -2) for pair in zip(before, (content, scores), strict=True))
    return (scores.softmax(-2) * content).sum(-2)


def _blocks(series: Series) -> tuple[Tensor, Tensor]:
    """Return content and scores with their bias, block by block: (*B, N, m, d)."""
    content, scores, bias = series
    m, n_blocks = len(bias), content.shape[-2] // len(bias)
    content, scores = (y[..., : n_blocks * m, :].unflatten(-2, (n_blocks, m)) for y in (content, scores))
    return content, scores + bias


def compressed_mask(allowed: Bool[Tensor, "*M T T"], m: int, fresh: int) -> Bool[Tensor, "*M T K"]:
    r"""Open to each query the entries of m words all of which it may look at, then the last words.

    Behind a causal mask query i sees entry e from the block's last word on, :math:`\lfloor (i + 1) / m \rfloor > e`,
    and ``fresh`` words, its own among them: those of a full block twice, others here alone (DeepSeek-V4: 128).

    Example:
        >>> compressed_mask(torch.ones(3, 3, dtype=torch.bool).tril(), 2, 1).int()
        tensor([[0, 1, 0, 0],
                [1, 0, 1, 0],
                [1, 0, 0, 1]], dtype=torch.int32)
    """
    T = allowed.shape[-1]
    entries = allowed[..., : T // m * m].unflatten(-1, (T // m, m)).all(-1)
    near = look_back(T, T, fresh) if fresh else torch.zeros(T, T, dtype=torch.bool)
    return torch.cat([entries, allowed & near], -1)


def turn_last(
    x: Float[Tensor, "*B T d"], rotary_dim: int, positions: Int[Tensor, " T"], *, base: float = 10_000.0
) -> Float[Tensor, "*B T d"]:
    """Turn the last r numbers of each row by its position, in neighbouring pairs: so DeepSeek-V4 lays them.

    Example:
        >>> turn_last(torch.ones(2, 4), 2, torch.tensor([0, -1]))[1]
        tensor([ 1.0000,  1.0000,  1.3818, -0.3012])
    """
    rotated = rope(x[..., -rotary_dim:], base=base, pairing="adjacent", positions=positions)
    return torch.cat([x[..., :-rotary_dim], rotated], -1)


def attend_to_entries(
    q: Float[Tensor, "H T d"],
    entries: Float[Tensor, "N d"],
    fresh: Float[Tensor, "T d"],
    allowed: Bool[Tensor, "*M T K"],
    *,
    rotary_dim: int,
    base: float = 10_000.0,
    sink: Float[Tensor, " H"] | None = None,
) -> AttentionTrace:
    r"""Attend to entries and fresh words, each key and value in one for all heads, and turn what comes out back.

    .. math:: o_i \mapsto R_{-i}\, o_i

    DeepSeek-V4 2026. RoPE has turned them as keys, so as values they say where they stand; turned back by the query's
    place they say how far away. Queries, entries and words come normed and turned; ``allowed`` is
    :func:`compressed_mask`'s, of which a scorer of its own may close entries. No value makes it standard.
    """
    keys = torch.cat([entries, fresh]).expand(len(q), -1, -1)
    trace = attend(q, keys, keys, allowed=allowed, sink=sink)
    back = turn_last(trace.output, rotary_dim, -torch.arange(q.shape[-2]), base=base)
    return replace(trace, output=back)
