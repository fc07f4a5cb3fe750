"""A layer's maps read once: what is wrong with them, the sums of their rows, small maps, and quick measures."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from viz.components.head_grid import largest_of_blocks

PLAIN = 2**-7
"""Tolerance of a row's sum by rounding alone: twice what 8 significant bits, the fewest in use, make of it."""

DECIMALS = (2, 3, 4, 5)
STEPS = (1 / 255, 1 / 65_535)
"""Of weights that were written as text, or as whole numbers of 8 or 16 bits."""


@dataclass(frozen=True, kw_only=True)
class LayerSurvey:
    """Numbers of one layer's maps (H, Q, K), on the processor and in float32.

    ``sums`` (H, Q) are those of rows, and ``tolerance`` says how far rounding may move them from 1; ``nowhere`` (Q, K)
    is where no head looks, ``above`` the largest weight above the diagonal. ``small`` are the maps as the largest of
    every ``pool`` x ``pool`` block. ``measures`` read a row or a diagonal of each map, one number a head.
    """

    shape: tuple[int, int, int]
    lowest: float
    highest: float
    sums: Tensor
    tolerance: float
    nowhere: Tensor
    above: float
    pool: int
    small: Tensor
    measures: dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Numbers of the maps of some heads of a layer."""

    lowest: Tensor
    sums: Tensor
    tolerance: float
    small: Tensor
    measures: dict[str, Tensor]


def survey_layer(parts: Iterable[Tensor], pool: int) -> LayerSurvey:
    """Survey the maps of one layer, where and in the precision in which they are.

    Args:
        parts: the maps (h, Q, K) of some heads after the other, each read before the next is made.
        pool: the side of the blocks of small maps.
    """
    surveys: list[_Part] = []
    highest = torch.zeros(())
    for values in parts:
        part, largest = _survey_part(values, pool)
        highest = torch.maximum(highest, largest) if surveys else largest
        surveys.append(part)
    sums = torch.cat([part.sums for part in surveys])
    return LayerSurvey(
        shape=(len(sums), *highest.shape),
        lowest=float(torch.stack([part.lowest for part in surveys]).amin()),
        highest=float(highest.amax()),
        sums=sums,
        tolerance=max(part.tolerance for part in surveys),
        nowhere=highest == 0,
        above=float(highest.triu(1).amax()),
        pool=pool,
        small=torch.cat([part.small for part in surveys]),
        measures={name: torch.cat([part.measures[name] for part in surveys]) for name in surveys[0].measures},
    )


def _survey_part(values: Tensor, pool: int) -> tuple[_Part, Tensor]:
    """Survey the maps (h, Q, K) of some heads; return the largest of them, (Q, K), beside it."""
    largest = values.amax(0) if len(values) > 1 else values[0]
    highest, small = (numbers.to("cpu", torch.float32) for numbers in (largest, largest_of_blocks(values, pool)))
    sums = _row_sums(values)
    is_off = math.isfinite(float(sums.sum())) and bool(((sums - 1).abs() > PLAIN).any())
    part = _Part(
        lowest=values.amin().cpu().double(),
        sums=sums,
        tolerance=row_tolerance(values) if is_off else PLAIN,
        small=small,
        measures={
            "previous": _mean(values.diagonal(-1, -2, -1)),
            "next": _mean(values.diagonal(1, -2, -1)),
            "first": _mean(values[..., 0]),
            "first_of_others": _mean(values[:, 1:, 0]),
        },
    )
    return part, highest


def _row_sums(values: Tensor) -> Tensor:
    """The sum of every row, (H, Q)."""
    if values.dtype == torch.float32 or values.device.type != "cpu":
        return values.sum(-1, dtype=torch.float32).cpu()
    # A processor sums 16 bits slowly, and new memory for a whole layer is slow too.
    buffer = torch.empty(values.shape[1:])
    return torch.stack([buffer.copy_(head).sum(-1) for head in values])


def _mean(values: Tensor) -> Tensor:
    return values.to("cpu", torch.float32).mean(-1)


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
