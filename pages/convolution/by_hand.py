"""Attention of a quadratic head from coordinates in float64: the reference of the live checks.

Independent of the core, so that a mistake there, such as a wrong sign of a shift, is not repeated.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def window_scores(offset: Tensor, alpha: Tensor, grid: Sequence[int], queries: Tensor | None = None) -> Tensor:
    """-alpha |k - q - offset|² for the cells q that look, (H, Q, P); all cells, if ``queries`` is None.

    Args:
        offset: (H, D), each head's centre.
        alpha: (H), each head's sharpness.
        grid: (T,) for a sequence, (rows, columns) for a picture.
        queries: numbers of the cells, in reading order.

    Example:
        A head that looks one token ahead, seen from token 1 of three.

        >>> window_scores(torch.tensor([[1.0]]), torch.tensor([2.0]), (3,), torch.tensor([1]))[0, 0].tolist()
        [-8.0, -2.0, -0.0]
    """
    ranges = [torch.arange(size, dtype=torch.float64) for size in grid]
    keys = torch.stack(torch.meshgrid(*ranges, indexing="ij"), -1).flatten(0, -2)
    lookers = keys if queries is None else keys[queries]
    away = keys - lookers[:, None] - offset.detach().double()[:, None, None]
    return -alpha.detach().double()[:, None, None] * (away**2).sum(-1)


def softmax(scores: Tensor) -> Tensor:
    """Each row shared out; a row of nothing but -inf is 0."""
    return torch.softmax(scores, -1).nan_to_num(0.0)
