"""Several residual streams (mHC): each layer reads a sum of them, writes to each, and a matrix mixes them."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


def sinkhorn(logits: Float[Tensor, "*B n n"], *, rounds: int = 20, eps: float = 1e-6) -> Float[Tensor, "*B n n"]:
    r"""Bring the sums over both axes of a positive matrix to 1, by turns: over the second axis, over the first.

    Sinkhorn and Knopp 1967. It ends with the first axis, whose sums are 1 then; those over the second only nearly.
    """
    mix = torch.softmax(logits, -1) + eps
    for i in range(rounds):
        mix = mix / (mix.sum(-1, keepdim=True) + eps) if i else mix
        mix = mix / (mix.sum(-2, keepdim=True) + eps)
    return mix


@dataclass(frozen=True, kw_only=True)
class StreamWeights:
    """Weights of a layer on n streams: ``read`` and ``write`` (..., n), and ``mix`` (..., n, n)."""

    read: Tensor
    write: Tensor
    mix: Tensor

    def next(self, streams: Float[Tensor, "*B n d"], added: Float[Tensor, "*B d"]) -> Float[Tensor, "*B n d"]:
        r"""Return the streams behind a layer that adds f, :math:`M^\top X + b f`; X + f where n, M and b are 1."""
        return self.mix.mT @ streams + self.write[..., None] * added[..., None, :]


def stream_weights(
    streams: Float[Tensor, "*B n d"],
    w: Float[Tensor, "n*(n+2) n*d"],
    *,
    scales: Float[Tensor, "3"],
    bias: Float[Tensor, "n*(n+2)"],
    eps: float = 1e-6,
) -> StreamWeights:
    r"""Compute a layer's weights from the streams themselves, laid side by side and normed.

    .. math:: a = \sigma(s_1 W_a x + \beta_a), \quad b = 2 \sigma(s_2 W_b x + \beta_b), \quad
        M = \operatorname{Sinkhorn}(s_3 W_M x + \beta_M)

    mHC, 2512.24880. DeepSeek V4 (2026) has 4 streams, equal at first, and such weights for attention and for the MLP,
    each of which reads :math:`\sum_i a_i X_i`.

    Example:
        >>> weights = stream_weights(torch.ones(2, 3), torch.zeros(8, 6), scales=torch.ones(3), bias=torch.zeros(8))
        >>> weights.write, weights.mix
        (tensor([1., 1.]), tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]]))
    """
    n, flat = streams.shape[-2], streams.flatten(-2)
    flat = flat * (flat.square().mean(-1, keepdim=True) + eps).rsqrt()
    parts = ((flat @ w.mT).split([n, n, n * n], -1), scales, bias.split([n, n, n * n]))
    read, write, mix = (values * scale + start for values, scale, start in zip(*parts, strict=True))
    return StreamWeights(
        read=torch.sigmoid(read) + eps, write=2 * torch.sigmoid(write), mix=sinkhorn(mix.unflatten(-1, (n, n)), eps=eps)
    )
