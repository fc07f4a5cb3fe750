"""The gated delta rule: before a token is written into the state, what its key already brings up is taken out."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.variants.today.linear import StateTrace, decay_map


def to_unit_length(x: Float[Tensor, "*B T d"], *, eps: float = 1e-6) -> Float[Tensor, "*B T d"]:
    """Scale each query or key to length 1: with longer keys the state would overshoot.

    Example:
        >>> to_unit_length(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + eps)


def decay_steps(
    x: Float[Tensor, "*B T H"], log_rate: Float[Tensor, " H"], bias: Float[Tensor, " H"]
) -> Float[Tensor, "*B H T"]:
    r"""Compute how much of its state each head forgets before each token, as a logarithm: at most 0.

    .. math:: g = -e^{A} \operatorname{softplus}(x + b)

    Yang et al. 2025 (2412.06464), after Mamba 2; each word decides.

    Args:
        x: a number for each word and head.
        log_rate: A.
        bias: b.

    Example:
        >>> decay_steps(torch.zeros(1, 1), torch.zeros(1), torch.zeros(1)).exp()
        tensor([[0.5000]])
    """
    return (-log_rate.exp() * torch.nn.functional.softplus(x + bias)).mT


def delta_states(
    q: Float[Tensor, "*B T d_k"],
    k: Float[Tensor, "*B T d_k"],
    v: Float[Tensor, "*B T d_v"],
    *,
    beta: Float[Tensor, "*B T"],
    steps: Float[Tensor, "*B T"],
    corrects: bool = True,
) -> StateTrace:
    r"""Read a text token by token into a state, correcting what is there, and ask the state.

    .. math:: S \leftarrow e^{g_t} S, \quad \delta_t = \beta_t (v_t - S^\top k_t), \quad
              S \leftarrow S + k_t \delta_t^\top, \quad o_t = S^\top q_t / \sqrt{d_k}

    Schlag et al. 2021; gated, Yang et al. 2025 (2412.06464), as in Qwen 3-Next. A pair whose key comes again replaces
    the old one. At g = 0 and β = 1 keys at right angles are recalled exactly, as attention with an infinite scale
    would; on other keys it is no standard attention.

    Args:
        q: queries of length 1.
        k: keys of length 1, one head for each query head.
        v: values, likewise.
        beta: how much of the correction is written, between 0 and 1.
        steps: logarithms of the fading, at most 0.
        corrects: if not, :math:`\delta_t = \beta_t v_t`: linear attention, which adds and never replaces.

    Example:
        The second value takes the place of the first, whose key it shares.

        >>> key = torch.ones(2, 1)
        >>> v = torch.tensor([[3.0], [5.0]])
        >>> delta_states(key, key, v, beta=torch.ones(2), steps=torch.zeros(2)).output
        tensor([[3.],
                [5.]])
    """
    state = v.new_zeros(*k.shape[:-2], k.shape[-1], v.shape[-1])
    rows = []
    for t in range(k.shape[-2]):
        key, row = k[..., t, :], slice(t, t + 1)
        state = steps[..., t, None, None].exp() * state
        old = (key[..., None, :] @ state)[..., 0, :] if corrects else 0.0
        correction = beta[..., t, None] * (v[..., t, :] - old)
        state = state + key[..., :, None] * correction[..., None, :]
        rows.append(q[..., row, :] @ state / math.sqrt(q.shape[-1]))
    return StateTrace(state=state, output=torch.cat(rows, -2))


def _system(q: Tensor, k: Tensor, beta: Tensor, steps: Tensor) -> tuple[Tensor, Tensor]:
    """The reads of each query, and the unit lower triangular system of the corrections, (*B, T, T) both."""
    decay = decay_map(steps)
    reads = (q @ k.mT) / math.sqrt(q.shape[-1]) * decay
    lower = (beta[..., None] * (k @ k.mT) * decay).tril(-1)
    return reads, lower + torch.eye(k.shape[-2], dtype=k.dtype)


def delta_map(
    q: Float[Tensor, "*B T d_k"],
    k: Float[Tensor, "*B T d_k"],
    *,
    beta: Float[Tensor, "*B T"],
    steps: Float[Tensor, "*B T"],
    corrects: bool = True,
) -> Float[Tensor, "*B T T"]:
    r"""Unroll the gated delta rule into a map: what each token takes from each value; cells may be negative.

    .. math:: M = \Big(\tfrac{q k^\top}{\sqrt{d_k}} \odot D\Big) (I + L)^{-1} \operatorname{diag}(\beta), \qquad
              L_{ij} = \beta_i\, (k_i \cdot k_j)\, D_{ij} \; (j < i), \; 0 \text{ else}

    The corrections of all tokens solve a unit lower triangular system, :math:`(I + L)\, \delta = \operatorname{diag}
    (\beta)\, v`; D is the :func:`~viz.core.variants.today.linear.decay_map`. M times the values is the output of
    :func:`delta_states`. Yang et al. 2024 (2406.06484), sec. 3, one chunk as long as the text.

    Args:
        q: queries of length 1.
        k: keys of length 1, one head for each query head.
        beta: as in :func:`delta_states`, like ``steps`` and ``corrects``.
        steps: logarithms of the fading.
        corrects: if not, L is 0.

    Example:
        >>> key = torch.ones(2, 1)
        >>> delta_map(key, key, beta=torch.ones(2), steps=torch.zeros(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    reads, unit = _system(q, k, beta, steps)
    if not corrects:
        return reads * beta[..., None, :]
    return reads @ torch.linalg.solve_triangular(unit, torch.diag_embed(beta), upper=False, unitriangular=True)


def delta_outputs(
    q: Float[Tensor, "*B T d_k"],
    k: Float[Tensor, "*B T d_k"],
    v: Float[Tensor, "*B T d_v"],
    *,
    beta: Float[Tensor, "*B T"],
    steps: Float[Tensor, "*B T"],
) -> Float[Tensor, "*B T d_v"]:
    """Compute the output of :func:`delta_states` for all tokens at once, without the map: as models are trained.

    Example:
        >>> key = torch.ones(2, 1)
        >>> v = torch.tensor([[3.0], [5.0]])
        >>> delta_outputs(key, key, v, beta=torch.ones(2), steps=torch.zeros(2))
        tensor([[3.],
                [5.]])
    """
    reads, unit = _system(q, k, beta, steps)
    return reads @ torch.linalg.solve_triangular(unit, beta[..., None] * v, upper=False, unitriangular=True)


def recall_errors(k: Float[Tensor, "T d_k"], v: Float[Tensor, "T d_v"], *, corrects: bool) -> Float[Tensor, " T"]:
    """Return how far what a state answers to each key is from the last value stored under it, as a share of its length.

    All tokens are written with β = 1 and no decay, then every key is asked for once. Keys are brought to length 1.

    Example:
        A key that came twice: with the correction its last value is read, without it the sum of both.

        >>> k, v = torch.tensor([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]]), torch.eye(3)
        >>> recall_errors(k, v, corrects=True).round(decimals=4), recall_errors(k, v, corrects=False)
        (tensor([0., 0., 0.]), tensor([1., 0., 1.]))
    """
    keys = to_unit_length(k, eps=0.0)
    T = len(keys)
    state = delta_states(keys, keys, v, beta=v.new_ones(T), steps=v.new_zeros(T), corrects=corrects).state
    same = (keys @ keys.mT) > 1 - 1e-6
    last = torch.arange(T).where(same, -1).amax(-1)
    targets = v[last]
    return (keys @ state - targets).norm(dim=-1) / targets.norm(dim=-1)
