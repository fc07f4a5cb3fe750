"""Attention without a softmax: what was read is added up in a state of d x d numbers, which fades."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class StateTrace:
    """Output of heads with a state, ``output`` (*B, T, d_v), and their state after the last token, (*B, d_k, d_v)."""

    state: Tensor
    output: Tensor


def lightning_slopes(n_heads: int, *, layer: int, n_layers: int) -> Float[Tensor, " H"]:
    r"""Return the exponent by which each head's state fades from one token to the next.

    .. math:: a_h = 2^{-8h/H} \, (1 - l / (L - 1)), \quad h = 1 \dots H

    Qin et al. 2024 (2401.04658), as in MiniMax-01, layers counted from 0: its first heads forget in a few tokens, its
    last layer hardly at all. Small constants keep L = 1 from dividing by 0 and the last layer from never fading.

    Example:
        >>> lightning_slopes(2, layer=0, n_layers=3)
        tensor([0.0625, 0.0039])
    """
    slopes = 2.0 ** (-8 / n_heads * torch.arange(1, n_heads + 1))
    return slopes * (1 - layer / (n_layers - 1 + 1e-5) + 1e-5)


def decay_map(steps: Float[Tensor, "*B T"]) -> Float[Tensor, "*B T T"]:
    r"""Return what is left at token i of what was written at token j: 1 where i = j, 0 where j is later.

    .. math:: D_{ij} = \exp\Big(\sum_{m=j+1}^{i} g_m\Big)

    Args:
        steps: the logarithm g of the factor by which the state fades before each token is written, at most 0.

    Example:
        >>> decay_map(torch.tensor([-1.0, -2.0, -3.0])).log().round(decimals=4)
        tensor([[ 0., -inf, -inf],
                [-2.,  0., -inf],
                [-5., -3.,  0.]])
    """
    total = steps.cumsum(-1)
    later = torch.ones(steps.shape[-1], steps.shape[-1], dtype=torch.bool).triu(1)
    return (total[..., :, None] - total[..., None, :]).masked_fill(later, -torch.inf).exp()


def linear_map(
    q: Float[Tensor, "*B T d_k"], k: Float[Tensor, "*B T d_k"], steps: Float[Tensor, "*B T"]
) -> Float[Tensor, "*B T T"]:
    r"""Draw linear attention as a map: scores that fade with distance, and no softmax.

    .. math:: M = (q k^\top) \odot D

    Cells may be negative, and a row sums to anything. There is no switch at which this is standard attention: without
    decay it is the unscaled scores of :func:`~viz.core.attention.attend` behind a causal mask.

    Args:
        q: queries.
        k: keys, one head for each query head.
        steps: logarithms of the fading, (-a for every token in MiniMax).

    Example:
        >>> linear_map(torch.ones(2, 1), torch.tensor([[1.0], [3.0]]), torch.zeros(2))
        tensor([[1., 0.],
                [1., 3.]])
    """
    return (q @ k.mT) * decay_map(steps)


def linear_states(
    q: Float[Tensor, "*B T d_k"],
    k: Float[Tensor, "*B T d_k"],
    v: Float[Tensor, "*B T d_v"],
    steps: Float[Tensor, "*B T"],
) -> StateTrace:
    r"""Read a text token by token into a state, and ask the state.

    .. math:: S_t = e^{g_t} S_{t-1} + k_t v_t^\top, \qquad o_t = q_t S_t

    Katharopoulos et al. 2020; with decay, Qin et al. 2024. The output is :func:`linear_map` times the values, while
    all that is kept is d_k x d_v numbers a head, at any length.

    Args:
        q: queries.
        k: keys, one head for each query head.
        v: values, likewise.
        steps: logarithms of the fading.

    Example:
        >>> one = torch.ones(2, 1)
        >>> linear_states(one, one, torch.tensor([[3.0], [5.0]]), torch.zeros(2)).output
        tensor([[3.],
                [8.]])
    """
    state = v.new_zeros(*k.shape[:-2], k.shape[-1], v.shape[-1])
    rows = []
    for t in range(k.shape[-2]):
        state = steps[..., t, None, None].exp() * state + k[..., t, :, None] * v[..., t, None, :]
        rows.append(q[..., t, None, :] @ state)
    return StateTrace(state=state, output=torch.cat(rows, -2))
