"""Seven statistics of a head, and their baseline: an even spread on the same tokens."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from viz.core.analysis.map_statistics import (
    distance,
    distance_without,
    entropy,
    uniform,
    weight_at_offset,
    weight_on_keys,
)


@dataclass(frozen=True, kw_only=True)
class HeadStatistics:
    """Means over queries, one number for each head; NaN where the text has no such pair of tokens.

    ``entropy`` in nats; ``distance`` in tokens, ``distance_plain`` without special tokens (rows renormalised);
    the others are shares of weight: on the ``previous`` and the ``next`` token, on ``same`` (another mention of the
    query's own token), on the ``first`` token, on ``separators`` (special tokens other than the first).
    """

    entropy: Tensor
    distance: Tensor
    distance_plain: Tensor
    previous: Tensor
    next: Tensor
    same: Tensor
    first: Tensor
    separators: Tensor


def head_statistics(
    weights: Float[Tensor, "H T T"], ids: Int[Tensor, " T"], special: Bool[Tensor, " T"]
) -> HeadStatistics:
    """Describe each head of a self-attention layer.

    Every query counts, special ones too, except where a measure needs something a query lacks (a previous token,
    another mention). ``first`` leaves out the first token's own row, ``separators`` the separators' own.
    """
    mention = (ids == ids[:, None]) & ~torch.eye(len(ids), dtype=torch.bool) & ~special & ~special[:, None]
    separator = special & (torch.arange(len(ids)) > 0)
    return HeadStatistics(
        entropy=entropy(weights).mean(-1),
        distance=distance(weights).mean(-1),
        distance_plain=distance_without(weights, special).mean(-1),
        previous=weight_at_offset(weights, -1).mean(-1),
        next=weight_at_offset(weights, 1).mean(-1),
        same=weight_on_keys(weights, mention)[:, mention.any(-1)].mean(-1),
        first=weights[:, 1:, 0].mean(-1),
        separators=weight_on_keys(weights, separator)[:, ~separator].mean(-1).where(separator.any(), torch.nan),
    )


@dataclass(frozen=True, kw_only=True)
class CrossHeadStatistics:
    """Statistics of cross-attention heads; positions in two texts have no distance, else as :class:`HeadStatistics`.

    ``same`` is the share of weight on the query's own token in the other text, ``separators`` that on special
    tokens other than the first.
    """

    entropy: Tensor
    same: Tensor
    first: Tensor
    separators: Tensor


def cross_head_statistics(
    weights: Float[Tensor, "H Q K"],
    query_ids: Int[Tensor, " Q"],
    key_ids: Int[Tensor, " K"],
    key_special: Bool[Tensor, " K"],
) -> CrossHeadStatistics:
    """Describe each head of a cross-attention layer; NaN where the texts have no such pair of tokens."""
    mention = (key_ids == query_ids[:, None]) & ~key_special
    separator = key_special & (torch.arange(len(key_ids)) > 0)
    return CrossHeadStatistics(
        entropy=entropy(weights).mean(-1),
        same=weight_on_keys(weights, mention)[:, mention.any(-1)].mean(-1),
        first=weights[..., 0].mean(-1),
        separators=weight_on_keys(weights, separator).mean(-1).where(separator.any(), torch.nan),
    )


def baseline(allowed: Bool[Tensor, "T T"], ids: Int[Tensor, " T"], special: Bool[Tensor, " T"]) -> HeadStatistics:
    """Statistics of a head that spreads every row evenly over the keys it may look at."""
    return head_statistics(uniform(allowed)[None], ids, special)
