"""Three functions that score a query against a key, with the cost of each in parameters, operations and memory."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD, Parts


def dot(q: Float[Tensor, "*B Q d_q"], k: Float[Tensor, "*B K d_key"]) -> Float[Tensor, "*B Q K"]:
    r"""Multiply and add up, :math:`q \cdot k` (Luong et al. 2015, sec. 3.1).

    Raises:
        ValueError: if queries and keys are not equally wide: there would be numbers with no partner.

    Example:
        >>> dot(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[11.,  2.]])
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"a dot product needs equal widths, and here d_q={q.shape[-1]}, d_k={k.shape[-1]}")
    return q @ k.mT


def scaled_dot(q: Float[Tensor, "*B Q d_q"], k: Float[Tensor, "*B K d_key"]) -> Float[Tensor, "*B Q K"]:
    r"""The dot product in units of its own spread, :math:`q \cdot k / \sqrt{d_k}` (Vaswani et al. 2017, eq. 1).

    Raises:
        ValueError: if queries and keys are not equally wide.

    Example:
        >>> scaled_dot(torch.ones(1, 4), torch.ones(1, 4))
        tensor([[2.]])
    """
    return dot(q, k) / math.sqrt(q.shape[-1])


@dataclass(frozen=True, kw_only=True)
class AdditiveWeights:
    """Weights of additive scoring: ``w_q`` (d_q, a), ``w_k`` (d_k, a) and ``w_v`` (a,); a is its hidden width."""

    w_q: Tensor
    w_k: Tensor
    w_v: Tensor

    @classmethod
    def random(cls, d_q: int, d_k: int, d_hidden: int, *, seed: int) -> "AdditiveWeights":
        r"""Draw weights :math:`\mathcal N(0, 1/\text{rows})`, as :meth:`viz.core.heads.HeadWeights.random` does.

        Example:
            >>> AdditiveWeights.random(3, 5, 7, seed=0).w_k.shape
            torch.Size([5, 7])
        """
        generator = torch.Generator().manual_seed(seed)
        shapes = {"w_q": (d_q, d_hidden), "w_k": (d_k, d_hidden), "w_v": (d_hidden,)}
        return cls(**{name: torch.randn(s, generator=generator) / s[0] ** 0.5 for name, s in shapes.items()})


def additive(
    q: Float[Tensor, "*B Q d_q"], k: Float[Tensor, "*B K d_key"], weights: AdditiveWeights
) -> Float[Tensor, "*B Q K"]:
    r"""A small network looks at every pair, :math:`w_v^\top \tanh(W_q^\top q + W_k^\top k)`.

    Bahdanau et al. 2015, appendix A.1.2, without biases. Queries and keys may be of different widths: both
    are brought to the hidden width first. Not scaled: tanh keeps every score within :math:`\lVert w_v \rVert_1`.

    Example:
        >>> one = torch.ones(1, 1)
        >>> additive(one, one, AdditiveWeights(w_q=one, w_k=-one, w_v=torch.ones(1)))
        tensor([[0.]])
    """
    pairs = (q @ weights.w_q)[..., :, None, :] + (k @ weights.w_k)[..., None, :, :]
    return torch.tanh(pairs) @ weights.w_v


@dataclass(frozen=True, kw_only=True)
class ScoringFlops(Parts):
    """Floating-point operations: both projections, and the products that make the scores."""

    q: int
    k: int
    scores: int


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One scoring function, and what it takes for Q queries and K keys.

    ``parameters`` are the numbers it learns, ``flops`` its multiplications and additions in matrix products,
    ``tanhs`` how often it evaluates tanh, ``n_stored`` the numbers it needs at once before the scores are there.
    """

    score: Callable[[Tensor, Tensor], Tensor]
    parameters: int
    flops: ScoringFlops
    tanhs: int
    n_stored: int


def scorings(*, d_q: int, d_k: int, n_queries: int, n_keys: int, weights: AdditiveWeights) -> Mapping[str, Scoring]:
    r"""The three functions by name, with their costs in closed form; a multiply-add is 2 FLOPs.

    .. math:: 2 Q K d \quad\text{against}\quad 2 (Q d_q + K d_k + Q K)\, a

    Example:
        >>> costs = scorings(
        ...     d_q=3, d_k=5, n_queries=7, n_keys=11, weights=AdditiveWeights.random(3, 5, 2, seed=0)
        ... )
        >>> [costs["additive"].parameters, costs["additive"].flops.total, costs["additive"].n_stored]
        [18, 612, 154]
    """
    twice, pairs, d_hidden = FLOPS_PER_MULTIPLY_ADD, n_queries * n_keys, weights.w_v.shape[0]
    product = ScoringFlops(q=0, k=0, scores=twice * pairs * d_q)
    network = ScoringFlops(
        q=twice * n_queries * d_q * d_hidden, k=twice * n_keys * d_k * d_hidden, scores=twice * pairs * d_hidden
    )
    return {
        "dot": Scoring(score=dot, parameters=0, flops=product, tanhs=0, n_stored=0),
        "scaled_dot": Scoring(score=scaled_dot, parameters=0, flops=product, tanhs=0, n_stored=0),
        "additive": Scoring(
            score=lambda q, k: additive(q, k, weights),
            parameters=(d_q + d_k + 1) * d_hidden,
            flops=network,
            tanhs=pairs * d_hidden,
            n_stored=pairs * d_hidden,
        ),
    }
