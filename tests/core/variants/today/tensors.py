"""Numbers for the tests of this folder, in float64, so that only formulas can differ."""

import torch
from torch import Tensor


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Draw normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def largest_difference(a: Tensor, b: Tensor) -> float:
    """Return the largest difference of two tensors of the same shape; NaN where one holds one."""
    assert a.shape == b.shape, (a.shape, b.shape)
    return float((a - b).abs().max())
