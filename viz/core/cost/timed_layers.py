"""The layers that are timed: self-attention twice, a convolution, two recurrences, ready to run on n tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from viz.core.cost.architectures import Sizes, convolution, gru, lstm, self_attention
from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD
from viz.core.heads import concat_heads, split_heads

Run = Callable[[], Tensor]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Layers of width ``d`` with ``h`` heads and kernels of ``k``; on the meta device they are counted, not run."""

    d: int
    h: int
    k: int
    device: str = "cpu"


def naive_attention(x: Float[Tensor, "T d"], w: Sequence[Tensor], h: int) -> Float[Tensor, "T d"]:
    """Self-attention as the formula says: every score and every weight is kept until it is used."""
    q, k, v = (split_heads(x @ matrix, h) for matrix in w[:3])
    weights = torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
    return concat_heads(weights @ v) @ w[3]


def sdpa_attention(x: Float[Tensor, "T d"], w: Sequence[Tensor], h: int) -> Float[Tensor, "T d"]:
    """The same numbers from ``F.scaled_dot_product_attention``, which takes the keys block by block where it can."""
    q, k, v = (split_heads(x @ matrix, h)[None] for matrix in w[:3])
    return concat_heads(scaled_dot_product_attention(q, k, v))[0] @ w[3]


def _noise(shape: Sequence[int], seed: int, device: str) -> Tensor:
    """Random numbers from a generator of their own, so that the global one is unchanged; none on the meta device."""
    if device == "meta":
        return torch.empty(*shape, device=device)
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)


def _fill_parameters(module: nn.Module, device: str) -> Any:
    module = module.to_empty(device=device)
    for seed, weight in enumerate(module.parameters()):
        weight.data.copy_(_noise(weight.shape, seed, device) * weight.shape[-1] ** -0.5)
    return module.eval()


def _input(plan: Plan, n: int) -> Tensor:
    return _noise((n, plan.d), n, plan.device)


def _attention(layer: Callable[[Tensor, Sequence[Tensor], int], Tensor], plan: Plan, n: int) -> Run:
    w = [_noise((plan.d, plan.d), seed, plan.device) * plan.d**-0.5 for seed in range(4)]
    x = _input(plan, n)
    return lambda: layer(x, w, plan.h)


def _convolution(plan: Plan, n: int) -> Run:
    layer = _fill_parameters(nn.Conv1d(plan.d, plan.d, plan.k, padding=plan.k // 2, device="meta"), plan.device)
    x = _input(plan, n).mT.contiguous()[None]
    return lambda: layer(x)


def _recurrence(kind: type[nn.GRU] | type[nn.LSTM], plan: Plan, n: int) -> Run:
    layer = _fill_parameters(kind(plan.d, plan.d, batch_first=True, device="meta"), plan.device)
    layer.flatten_parameters()
    x = _input(plan, n)[None]
    return lambda: layer(x)[0]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A layer to measure: how to make it ready for a text, and how many multiply-adds it has by part."""

    make: Callable[[Plan, int], Run]
    multiply_adds: Callable[[Sizes], dict[str, int]]

    def flops(self, s: Sizes) -> int:
        """Operations of the layer by the exact count."""
        return FLOPS_PER_MULTIPLY_ADD * sum(self.multiply_adds(s).values())


CANDIDATES: Mapping[str, Candidate] = MappingProxyType(
    {
        "naive": Candidate(make=lambda plan, n: _attention(naive_attention, plan, n), multiply_adds=self_attention),
        "sdpa": Candidate(make=lambda plan, n: _attention(sdpa_attention, plan, n), multiply_adds=self_attention),
        "convolution": Candidate(make=_convolution, multiply_adds=convolution),
        "gru": Candidate(make=lambda plan, n: _recurrence(nn.GRU, plan, n), multiply_adds=gru),
        "lstm": Candidate(make=lambda plan, n: _recurrence(nn.LSTM, plan, n), multiply_adds=lstm),
    }
)
