"""The rounding that weights went through, read off the numbers themselves: a dtype says where they lie, not that."""

import torch
from torch import Tensor

PLAIN = 2**-7
"""Tolerance of a row's sum by rounding alone: twice what 8 significant bits, the fewest in use, make of it."""

DECIMALS = (2, 3, 4, 5)
STEPS = (1 / 255, 1 / 65_535)
"""Of weights that were written as text, or as whole numbers of 8 or 16 bits."""


OF_8_BITS = ((torch.float8_e4m3fn, 2**-4, 2**-9), (torch.float8_e5m2, 2**-3, 2**-16))
"""Types of 8 bits: half a step of the numbers of a size, as a share of them, and the smallest number."""

FEWEST = 16
"""Different numbers of which all would hardly have so few bits by chance."""


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
    for dtype, relative, least in OF_8_BITS:
        if len(sample.unique()) > FEWEST and bool((sample.float().to(dtype).double() == sample).all()):
            return max(relative, values.shape[-1] * least / 2)
    as_bfloat16 = sample.to(torch.bfloat16).double()
    return 2 * PLAIN if bool((as_bfloat16 == sample).all()) else PLAIN
