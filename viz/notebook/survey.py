"""A layer's maps read once: what is wrong with them, the sums of their rows, small maps, and quick measures."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from viz.components.head_grid import largest_of_blocks
from viz.notebook.precision import PLAIN, row_tolerance


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


def survey_layer(values: Tensor, pool: int) -> LayerSurvey:
    """Survey the maps (H, Q, K) of one layer, where and in the precision in which they are."""
    heads, queries, keys = values.shape
    codes = _as_integers(values)
    lowest = codes.amin()
    if codes is not values and int(lowest) < 0:  # a sign: integers have another order there
        codes, lowest = values, values.amin()
    highest, small = (
        part.view(values.dtype).to("cpu", torch.float32) for part in (codes.amax(0), largest_of_blocks(codes, pool))
    )
    sums = _row_sums(values)
    is_off = math.isfinite(float(sums.sum())) and bool(((sums - 1).abs() > PLAIN).any())
    return LayerSurvey(
        shape=(heads, queries, keys),
        lowest=float(lowest.view(values.dtype)),
        highest=float(highest.amax()),
        sums=sums,
        tolerance=row_tolerance(values) if is_off else PLAIN,
        nowhere=highest == 0,
        above=float(highest.triu(1).amax()),
        pool=pool,
        small=small,
        measures={
            "previous": _mean(values.diagonal(-1, -2, -1)),
            "next": _mean(values.diagonal(1, -2, -1)),
            "first": _mean(values[..., 0]),
            "first_of_others": _mean(values[:, 1:, 0]),
        },
    )


def _as_integers(values: Tensor) -> Tensor:
    """Return weights of 16 bits as integers of the same order, which a processor compares four times as fast."""
    is_half = values.dtype in (torch.float16, torch.bfloat16) and values.device.type == "cpu"
    return values.view(torch.int16) if is_half else values


def _row_sums(values: Tensor) -> Tensor:
    """The sum of every row, (H, Q)."""
    if values.dtype == torch.float32 or values.device.type != "cpu":
        return values.sum(-1, dtype=torch.float32).cpu()
    buffer = torch.empty(values.shape[1:])  # a processor sums 16 bits slowly, and new memory for a layer is slow too
    return torch.stack([buffer.copy_(head).sum(-1) for head in values])


def _mean(values: Tensor) -> Tensor:
    return values.to("cpu", torch.float32).mean(-1)
