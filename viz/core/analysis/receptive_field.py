"""Receptive fields of a stack of layers: reachable tokens, and measured sensitivity to them."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Stack = Callable[[Tensor], Tensor]
"""Any stack of layers: (T, d) -> (T, d)."""
Levels = Callable[[Tensor], Sequence[Tensor]]
"""A stack with all its levels: (T, d) -> x itself, and the output of each layer."""


def step(allowed: Bool[Tensor, "T T"] | None, n_tokens: int, *, residual: bool) -> Bool[Tensor, "T T"]:
    """Paths through one layer: those its mask allows, and with a residual connection each token to itself.

    Example:
        >>> step(torch.eye(2).bool().roll(1, 0), 2, residual=True).all()
        tensor(True)
    """
    open_ = torch.ones(n_tokens, n_tokens, dtype=torch.bool) if allowed is None else allowed
    return open_ | torch.eye(n_tokens, dtype=torch.bool) if residual else open_


def cone(steps: Bool[Tensor, "L T T"], query: int) -> Bool[Tensor, "M T"]:
    """The receptive field of one token of the last layer, level by level: row 0 are the words, row L the token itself.

    Row l is True where token j, as it is after l layers, can still reach it; so the field narrows going up.

    Example:
        >>> own_and_next = torch.tensor([[True, True, False], [False, True, True], [False, False, True]])
        >>> cone(torch.stack([own_and_next] * 2), 0).int()
        tensor([[1, 1, 1],
                [1, 1, 0],
                [1, 0, 0]], dtype=torch.int32)
    """
    T = steps.shape[-1]
    rows = [torch.arange(T) == query]
    for layer in reversed(steps):
        rows.append((rows[-1].float() @ layer.float()) > 0)
    return torch.stack(rows[::-1])


def sensitivity(levels: Levels, x: Float[Tensor, "T d"], query: int) -> Float[Tensor, "M T"]:
    r"""Gradient norm of one token of the last level by each token of each level: 0 where there is no path.

    .. math:: g_{lj} = \Big\lVert \frac{\partial\, (r \cdot x^{(L)}_i)}{\partial x^{(l)}_j} \Big\rVert

    with a random direction r of length 1: a token the output depends on gives 0 only by accident. The rows are those of
    :func:`cone`. What the levels are computed from must not have been made in inference mode.

    Example:
        >>> sensitivity(lambda x: (x, x.cumsum(0)), torch.zeros(3, 5), 1)
        tensor([[1., 1., 0.],
                [0., 1., 0.]])
    """
    with torch.inference_mode(False), torch.enable_grad():
        tokens = levels(x.detach().clone().requires_grad_())
        top = tokens[-1][query]
        direction = torch.randn(len(top), generator=torch.Generator().manual_seed(0), dtype=top.dtype)
        gradients = torch.autograd.grad(top @ (direction / direction.norm()), tokens)
    return torch.stack([gradient.norm(dim=-1) for gradient in gradients])


def output_change(run: Stack, x: Float[Tensor, "T d"], tokens: Bool[Tensor, " T"]) -> Float[Tensor, " T"]:
    """Change of each output token when some input tokens are replaced by noise of the same size.

    Tokens outside a receptive field move nothing: the check of :func:`cone` on a stack that runs.

    Example:
        >>> output_change(lambda x: x.cumsum(0), torch.ones(3, 2), torch.tensor([False, False, True]))[:2]
        tensor([0., 0.])
    """
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(0), dtype=x.dtype)
    noise = noise / noise.norm(dim=-1, keepdim=True) * x.norm(dim=-1, keepdim=True).clamp(min=1.0)
    return (run(torch.where(tokens[:, None], noise, x)) - run(x)).norm(dim=-1)
