"""The layers that are counted and timed: self-attention twice, a convolution, two recurrences, ready to run.

They are made on torch's default device: under ``torch.device("meta")`` they are counted, and no number is there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from viz.core.cost.architectures import Sizes, convolution, gru, lstm, self_attention
from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD
from viz.core.heads import concat_heads, split_heads

Run = Callable[[], Tensor]
Matrices = Tensor | list[Tensor]
"""W_Q, W_K, W_V and W_O."""


def naive_attention(x: Float[Tensor, "T d"], w: Matrices, h: int) -> Float[Tensor, "T d"]:
    """Self-attention as the formula says: every score and every weight is kept until it is used."""
    q, k, v = (split_heads(x @ matrix, h) for matrix in w[:3])
    weights = torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
    return concat_heads(weights @ v) @ w[3]


def sdpa_attention(x: Float[Tensor, "T d"], w: Matrices, h: int) -> Float[Tensor, "T d"]:
    """The same numbers from ``F.scaled_dot_product_attention``, which takes the keys block by block where it can."""
    q, k, v = (split_heads(x @ matrix, h)[None] for matrix in w[:3])
    return concat_heads(scaled_dot_product_attention(q, k, v))[0] @ w[3]


def _attention(layer: Callable[[Tensor, Matrices, int], Tensor], s: Sizes) -> Run:
    return partial(layer, torch.randn(s.n, s.d), torch.randn(4, s.d, s.d) * s.d**-0.5, s.h)


def _convolution(s: Sizes) -> Run:
    return partial(nn.Conv1d(s.d, s.d, s.k, padding=s.k // 2), torch.randn(1, s.d, s.n))


def _recurrence(kind: type[nn.GRU] | type[nn.LSTM], s: Sizes) -> Run:
    layer, x = kind(s.d, s.d, batch_first=True), torch.randn(1, s.n, s.d)
    return lambda: layer(x)[0]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A layer to measure: how to make it ready for a text, and how many multiply-adds it has by part."""

    make: Callable[[Sizes], Run]
    multiply_adds: Callable[[Sizes], dict[str, int]]

    def flops(self, s: Sizes) -> int:
        """Operations of the layer by the exact count."""
        return FLOPS_PER_MULTIPLY_ADD * sum(self.multiply_adds(s).values())


CANDIDATES: Mapping[str, Candidate] = MappingProxyType(
    {
        "naive": Candidate(make=partial(_attention, naive_attention), multiply_adds=self_attention),
        "sdpa": Candidate(make=partial(_attention, sdpa_attention), multiply_adds=self_attention),
        "convolution": Candidate(make=_convolution, multiply_adds=convolution),
        "gru": Candidate(make=partial(_recurrence, nn.GRU), multiply_adds=gru),
        "lstm": Candidate(make=partial(_recurrence, nn.LSTM), multiply_adds=lstm),
    }
)
