"""Exclusive self-attention: what a head gives a word, without all that lies along the word's own value."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize


def exclude_own_value(
    output: Float[Tensor, "*B T d_v"], v: Float[Tensor, "*B T d_v"], *, share: Float[Tensor, "*H 1 1"] | float = 1.0
) -> Float[Tensor, "*B T d_v"]:
    r"""Take away of each word's output a share of what lies along its own value.

    .. math:: o_i \mapsto o_i - \tanh(\alpha_h)\, (o_i \cdot \hat v_i)\, \hat v_i, \qquad \hat v_i = v_i / \|v_i\|

    2603.09078; NeoMME 2026 learns an α for each head, from 0 on. It is no struck-out diagonal: what other words brought
    along :math:`\hat v_i` goes too. With a ``share``, tanh α, of 1 the rest is orthogonal to the word's value. Standard
    at 0.

    Example:
        >>> exclude_own_value(torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 2.0]]))
        tensor([[3., 0.]])
    """
    direction = normalize(v, dim=-1)
    along = (output * direction).sum(-1, keepdim=True)
    return output - share * along * direction


def exclusive_map(
    weights: Float[Tensor, "*B T T"], v: Float[Tensor, "*B T d_v"], *, share: Float[Tensor, "*H 1 1"] | float = 1.0
) -> Float[Tensor, "*B T T"]:
    r"""Return the map that gives the same, times the values: only the diagonal is another, and it may be negative.

    .. math:: A_{ii} \mapsto A_{ii} - \tanh(\alpha_h) \sum_j A_{ij}\, (v_j \cdot \hat v_i) / \|v_i\|

    The own word's part of the sum is :math:`A_{ii}` itself. With a share of 1 minus what the others brought is left.

    Example:
        Two words have the same value: what the other one brought goes too.

        >>> exclusive_map(torch.full((2, 2), 0.5), torch.ones(2, 1))
        tensor([[-0.5000,  0.5000],
                [ 0.5000, -0.5000]])
    """
    # A value as short as this has no direction, as ``normalize`` has it.
    along = (weights @ v * normalize(v, dim=-1)).sum(-1) / v.norm(dim=-1).clamp(min=1e-12)
    return weights - share * torch.diag_embed(along)
