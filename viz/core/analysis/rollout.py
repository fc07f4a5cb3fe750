"""Attention rollout: the words that a token of the last layer draws on, judged by weights alone.

It sees a stack of layers as a network whose edges carry the weights (Abnar & Zuidema 2020). It knows no values, no
W_O, no feed-forward part and no signs, and gives a token's own path and its heads the same weight.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def with_residual(weights: Float[Tensor, "*L H T T"]) -> Float[Tensor, "*L T T"]:
    r"""One map for each layer: the mean over its heads, half of each row left to the token itself.

    .. math:: \hat A = \tfrac12 \bar A + \tfrac12 I, \quad \text{each row divided by its sum}

    Abnar & Zuidema 2020, sec. 3: the half stands for the residual connection. A row that may look nowhere stays with
    its token.

    Example:
        >>> with_residual(torch.tensor([[[1.0, 0.0], [0.5, 0.5]]]))
        tensor([[1.0000, 0.0000],
                [0.2500, 0.7500]])
    """
    mixed = (weights.mean(-3) + torch.eye(weights.shape[-1], dtype=weights.dtype)) / 2
    return mixed / mixed.sum(-1, keepdim=True)


def rollout(mixed: Float[Tensor, "L T T"]) -> Float[Tensor, "L T T"]:
    r"""Follow the weights down to the words: entry (l, i, j) is what token i of layer l has from word j.

    .. math:: R_l = \hat A_l R_{l-1}, \qquad R_0 = I

    Abnar & Zuidema 2020, eq. 1: the sum over all paths from i down to j, of the product of the weights along each. Rows
    sum to 1.

    Args:
        mixed: a map for each layer, the lowest first, as :func:`with_residual` gives them.

    Example:
        >>> half = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
        >>> rollout(torch.stack([half, half]))[-1]
        tensor([[1.0000, 0.0000],
                [0.7500, 0.2500]])
    """
    layers = [mixed[0]]
    for layer in mixed[1:]:
        layers.append(layer @ layers[-1])
    return torch.stack(layers)
