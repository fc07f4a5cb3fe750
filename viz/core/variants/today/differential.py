"""Differential attention: one map minus a share of another, so that what both look at by habit cancels."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import AttentionTrace, attend
from viz.core.norm import NormWeights, rms_norm


@dataclass(frozen=True, kw_only=True)
class DifferentialTrace:
    """Both maps of a pair of heads, and what becomes of them.

    ``weights`` is the first map minus a share of the second: its rows sum to 1 minus that share, and cells may be
    negative. ``output`` is what it makes of the values.
    """

    first: AttentionTrace
    second: AttentionTrace
    weights: Tensor
    output: Tensor


def initial_share(layer: int) -> float:
    r"""Return the number λ starts from in a layer, counted from 0.

    .. math:: \lambda_{init} = 0.8 - 0.6\, e^{-0.3\, l}

    Ye et al. 2024 (2410.05258), sec. 2.1, where layers count from 1 and the exponent has l - 1.

    Example:
        >>> round(initial_share(0), 4), round(initial_share(10), 4)
        (0.2, 0.7701)
    """
    return 0.8 - 0.6 * math.exp(-0.3 * layer)


def learned_share(
    q_1: Float[Tensor, " d"],
    k_1: Float[Tensor, " d"],
    q_2: Float[Tensor, " d"],
    k_2: Float[Tensor, " d"],
    *,
    start: float,
) -> Float[Tensor, ""]:
    r"""Compute λ, how much of the second map is taken away, from the four vectors a layer has learned for it.

    .. math:: \lambda = e^{\lambda_{q1} \cdot \lambda_{k1}} - e^{\lambda_{q2} \cdot \lambda_{k2}} + \lambda_{init}

    Ye et al. 2024, eq. 2. All heads of a layer share it.

    Example:
        >>> zero = torch.zeros(3)
        >>> learned_share(zero, zero, zero, zero, start=0.2)
        tensor(0.2000)
    """
    return (q_1 @ k_1).exp() - (q_2 @ k_2).exp() + start


def attend_differential(
    q_1: Float[Tensor, "*B Q d_k"],
    k_1: Float[Tensor, "*B K d_k"],
    q_2: Float[Tensor, "*B Q d_k"],
    k_2: Float[Tensor, "*B K d_k"],
    v: Float[Tensor, "*B K d_v"],
    *,
    share: Float[Tensor, ""] | float,
    allowed: Bool[Tensor, "*M #Q #K"] | None = None,
    scale: float | None = None,
) -> DifferentialTrace:
    r"""Attend by the difference of two maps, and keep both.

    .. math:: \big(\operatorname{softmax}(q_1 k_1^\top / \sqrt{d_k}) -
              \lambda \operatorname{softmax}(q_2 k_2^\top / \sqrt{d_k})\big)\, v

    Ye et al. 2024, eq. 1. Standard at λ = 0: the first map alone.

    Args:
        q_1: queries of the first map.
        k_1: keys of the first map.
        q_2: queries of the second.
        k_2: keys of the second.
        v: the values of both; in the paper twice as wide as a query.
        share: λ.
        allowed: True where a query may look, in both maps.
        scale: what the scores are multiplied by; None means 1/sqrt(d_k).

    Example:
        >>> q, k = torch.zeros(1, 2), torch.eye(2)
        >>> attend_differential(k[:1] * 100, k, q, k, k, share=0.5).weights
        tensor([[ 0.7500, -0.2500]])
    """
    first = attend(q_1, k_1, v, allowed=allowed, scale=scale)
    second = attend(q_2, k_2, v, allowed=allowed, scale=scale)
    weights = first.weights - share * second.weights
    return DifferentialTrace(first=first, second=second, weights=weights, output=weights @ v)


def norm_difference(output: Float[Tensor, "*B Q d_v"], *, start: float, eps: float = 1e-5) -> Float[Tensor, "*B Q d_v"]:
    r"""Norm what each head gives, and scale it as a layer begins: the step between the heads and W_O.

    .. math:: (1 - \lambda_{init})\, o / \operatorname{rms}(o)

    Ye et al. 2024, eq. 3; the factor is the row's sum at the start of training. Each head by itself, without a gain.

    Example:
        >>> norm_difference(torch.tensor([[3.0, 4.0]]), start=0.2).square().mean().sqrt()
        tensor(0.8000)
    """
    return (1 - start) * rms_norm(output, NormWeights(gain=torch.ones(output.shape[-1], dtype=output.dtype), eps=eps))
