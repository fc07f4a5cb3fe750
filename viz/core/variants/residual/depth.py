"""Attention over depth: a layer looks at the word itself and at what each layer before it added."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import AttentionTrace, attend


def attend_depth(
    sources: Float[Tensor, "*B S d"],
    w: Float[Tensor, "P d"],
    *,
    allowed: Bool[Tensor, "P S"] | None = None,
    scale: float | None = None,
    is_normed: bool = True,
    eps: float = 1e-6,
) -> AttentionTrace:
    r"""Attend from places in the stack, each with one learned vector, to what one word's stream was made of.

    .. math:: p_b = \operatorname{softmax}_b\big(w \cdot \operatorname{norm}(r_b) / \sqrt d\big), \qquad
        \sum_b p_b \operatorname{norm}(r_b) \quad\text{or}\quad \sum_b p_b\, r_b

    Inkling 2 (2026) sums the sources as normed; Kimi K3 (2026, 2603.15031) as they are, with a scale of 1: with w = 0
    it reads the plain residual divided by the number of sources, Inkling 2 a mean of normed sources. Their sources are
    the word, each finished block of layers, and the sum of the block that is not finished.

    Example:
        >>> sources = torch.tensor([[1.0, 0.0], [0.0, 3.0]])
        >>> attend_depth(sources, torch.zeros(1, 2), is_normed=False).output
        tensor([[0.5000, 1.5000]])
    """
    normed = sources * torch.rsqrt(sources.square().mean(-1, keepdim=True) + eps)
    w = w.expand(*sources.shape[:-2], *w.shape)
    return attend(w, normed, normed if is_normed else sources, allowed=allowed, scale=scale)


def shares_of_lengths(weights: Float[Tensor, "*B P S"], sources: Float[Tensor, "*B S d"]) -> Float[Tensor, "*B P S"]:
    r"""Return the weights on normed sources that point where these weights on sources as they are do.

    .. math:: p_b\, \|r_b\| \Big/ \sum_c p_c\, \|r_c\|

    With equal weights it is the plain residual: each source counts as much as it is long.

    Example:
        >>> shares_of_lengths(torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 0.0], [0.0, 3.0]]))
        tensor([[0.2500, 0.7500]])
    """
    parts = weights * sources.norm(dim=-1)[..., None, :]
    return parts / parts.sum(-1, keepdim=True).clamp(min=1e-12)
