"""The rounding that weights went through, read off the numbers themselves: a dtype says where they lie, not that."""

import torch
from torch import Tensor

PLAIN = 2**-7
"""Tolerance of a row's sum by rounding alone: twice what 8 significant bits, the fewest in use, make of it."""

DECIMALS = (2, 3, 4, 5)
STEPS = (1 / 255, 1 / 65_535)
"""Of weights that were written as text, or as whole numbers of 8 or 16 bits."""


def row_tolerance(values: Tensor) -> float:
    """Return how far the sum of a row of these weights may be from 1 by their rounding.

    Each number is off by at most half a step; a relative rounding moves a sum of 1 by no more than itself.
    """
    sample = values.flatten()[:100_000].cpu().double()
    if not sample.numel() or bool((sample == sample.round()).all()):
        return PLAIN
    for step in (*(10.0**-k for k in DECIMALS), *STEPS):
        multiples = sample / step
        if bool(((multiples - multiples.round()).abs() * step < 1.2e-7).all()):
            return max(PLAIN, values.shape[-1] * step / 2)
    as_bfloat16 = sample.to(torch.bfloat16).double()
    return 2 * PLAIN if bool((as_bfloat16 == sample).all()) else PLAIN
