"""Random numbers for the tests of this folder."""

import torch
from torch import Tensor


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Draw normal numbers in float64, so that only a wrong formula is off by more than 1e-12."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def draw_single(*shape: int, seed: int = 0) -> Tensor:
    """Draw normal numbers in float32."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))
