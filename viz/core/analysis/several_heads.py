"""Abilities of several heads that one lacks: two places at once, comparison in several subspaces."""

import math
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.analysis.map_statistics import total_variation, weight_on_keys


def offset_scores(n: int, shares: Mapping[int, float]) -> Float[Tensor, "n n"]:
    r"""Scores of a head that looks at fixed distances, whatever the words are.

    .. math:: S_{ij} = \log p_{j-i}, \qquad \log 0 = -\infty

    After the softmax a query gives the share :math:`p_\delta` to the key at offset :math:`\delta`; at the ends of the
    text, where some of these keys do not exist, the others share what is left.

    Example:
        The next word gets three quarters, the previous one the rest.

        >>> offset_scores(3, {-1: 0.25, 1: 0.75}).softmax(-1)[1]
        tensor([0.2500, 0.0000, 0.7500], dtype=torch.float64)
    """
    offset = torch.arange(n) - torch.arange(n)[:, None]
    scores = torch.full((n, n), -torch.inf, dtype=torch.float64)
    for delta, share in shares.items():
        scores[offset == delta] = math.log(share) if share else -torch.inf
    return scores


def neighbours(x: Float[Tensor, "T d"]) -> Float[Tensor, "T-2 2*d"]:
    """The previous and the next word's vector beside each other, for every word that has both.

    Example:
        >>> neighbours(torch.tensor([[1.0], [2.0], [3.0], [4.0]])).tolist()
        [[1.0, 3.0], [2.0, 4.0]]
    """
    return torch.cat([x[:-2], x[2:]], dim=-1)


def lost(read: Float[Tensor, "T width"], target: Float[Tensor, "T m"]) -> Float[Tensor, ""]:
    r"""Share of the target that no linear read-out (W_O) can recover from ``read``.

    .. math:: \min_W \lVert Y - R W \rVert_F^2 / \lVert Y \rVert_F^2

    Example:
        The second column of the target is not in ``read``.

        >>> y = torch.tensor([[1.0, 1.0], [1.0, -1.0]])
        >>> lost(y[:, :1], y)
        tensor(0.5000)
    """
    best = torch.linalg.lstsq(read, target).solution
    return (target - read @ best).square().sum() / target.square().sum()


def head_distances(weights: Float[Tensor, "H Q K"]) -> Float[Tensor, "H H"]:
    r"""Distance between heads: the share of a word's attention that lies elsewhere, mean over the words.

    .. math:: D_{ab} = \frac1Q \sum_i \tfrac12 \sum_j \lvert A^a_{ij} - A^b_{ij} \rvert

    Total variation: 0 if they look alike, 1 if they share no key.

    Example:
        >>> head_distances(torch.tensor([[[1.0, 0.0]], [[0.5, 0.5]]]))
        tensor([[0.0000, 0.5000],
                [0.5000, 0.0000]])
    """
    # Head by head: all pairs at once would take H times the memory of the maps.
    return torch.stack([total_variation(weights, head.expand_as(weights)).mean(-1) for head in weights])


def pattern_share(weights: Float[Tensor, "*B Q K"], target: Bool[Tensor, "Q K"]) -> Float[Tensor, "*B"]:
    r"""Share of a pattern in a head: the weight that a word gives to its target words, mean over the words.

    .. math:: \frac{1}{|R|} \sum_{i \in R} \sum_{j \in T_i} A_{ij}, \qquad R = \{i : T_i \ne \emptyset\}

    Args:
        weights: one head, or many.
        target: True where the pattern has a query look; queries without a True are left out.

    Example:
        Word 1 is to look at word 0, and gives it a quarter.

        >>> target = torch.tensor([[False, False], [True, False]])
        >>> pattern_share(torch.tensor([[1.0, 0.0], [0.25, 0.75]]), target)
        tensor(0.2500)
    """
    rows = target.any(-1)
    return weight_on_keys(weights, target)[..., rows].mean(-1)


def score_form(w_q: Float[Tensor, "d d_k"], w_k: Float[Tensor, "d_mem d_k"]) -> Float[Tensor, "d d_mem"]:
    r"""The one matrix by which a head compares two words: its scores are :math:`x_i M x_j^\top`.

    .. math:: M = W_Q W_K^\top

    It reads every one of the d inputs, and has at most rank d_k.

    Example:
        >>> score_form(torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [4.0]]))
        tensor([[3., 4.],
                [6., 8.]])
    """
    return w_q @ w_k.T
