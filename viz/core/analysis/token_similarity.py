"""Similarity of the tokens of a layer: with depth, attention alone makes them all the same."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize


def mean_cosine(x: Float[Tensor, "*B T d"]) -> Float[Tensor, "*B"]:
    r"""The mean cosine between two different tokens: 1 if all point the same way, about 0 for unrelated ones.

    .. math:: \frac{1}{T (T - 1)} \sum_{i \ne j} \frac{x_i \cdot x_j}{\lVert x_i \rVert \lVert x_j \rVert}

    A lone token has nothing to be compared with: NaN. A vector of zeros has no direction and counts as 0.

    Example:
        >>> mean_cosine(torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
        tensor(0.3333)
    """
    T = x.shape[-2]
    unit = normalize(x, dim=-1)
    # all pairs at once: the squared length of the sum, less each token with itself
    pairs = unit.sum(-2).square().sum(-1) - unit.square().sum((-2, -1))
    return pairs / (T * (T - 1)) if T > 1 else torch.full_like(pairs, torch.nan)


def residual_share(x: Float[Tensor, "*B T d"]) -> Float[Tensor, "*B"]:
    r"""Share of the tokens that differs from their mean, from 0 (all equal) to 1.

    .. math:: \frac{\lVert X - \mathbf 1 \bar x^\top \rVert_F}{\lVert X \rVert_F}, \qquad \bar x = \frac1T \sum_i x_i

    Dong, Cordonnier & Loukas 2021, eq. 1, who show that attention alone (no residual, no feed-forward) brings it to 0
    doubly exponentially with depth. They measure with a composite norm; this is Frobenius', for which the nearest
    :math:`\mathbf 1 x^\top` is the one with the mean.

    Example:
        >>> residual_share(torch.tensor([[3.0, 1.0], [3.0, -1.0]]))
        tensor(0.3162)
    """
    apart = x - x.mean(-2, keepdim=True)
    return apart.norm(dim=(-2, -1)) / x.norm(dim=(-2, -1))
