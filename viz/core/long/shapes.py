"""Classification of a head's map on a long text by three shapes, and the share of attention each explains.

The shapes, and their names, are those of Jiang et al. 2024 (MInference 1.0, sec. 3.1), who compute only the cells of a
head's shape.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

A_SHAPE, SLASHES, BLOCKS = "a_shape", "vertical_slash", "block_sparse"
SHAPES = (A_SHAPE, SLASHES, BLOCKS)
"""From the simplest on: two numbers say which cells are in it; a list of columns and diagonals; a list of blocks."""

BUDGET = 10
"""A shape has one in so many of a text's keys, in every row."""

SPLITS = (8, 2)
"""The budget is split between the two parts of a shape: 1 in 8, half and half, all but 1 in 8."""

CLOSE = 0.05
"""A simpler shape is preferred to one that explains up to this much more."""

SHORTEST = 256
"""Tokens of a text from which on shapes are named: a block of a shorter one would be a single cell, and any map is of
single cells."""

HALF = 0.5
"""A shape is named if it explains that much of what an even spread would leave out."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Fit of each shape: the ``shares`` of the attention that lie in it, and that of an ``even`` spread.

    ``name`` is the shape that fits, or "" if none does or the text is too short to tell. ``budget`` is how many keys a
    row has in each.
    """

    shares: dict[str, float]
    even: float
    name: str
    budget: int


def fit_shapes(
    weights: Float[Tensor, "R T"], at: Int[Tensor, " R"], *, causal: bool, sees: Int[Tensor, " R"] | None = None
) -> Fit:
    """Fit the three shapes to some of a head's rows, each with the same number of keys a row.

    Rows that may look at no more keys than a shape has are left out: whatever they do would be in it.

    Args:
        weights: whole rows.
        at: which rows these are.
        causal: whether a query looks at itself and at what comes before, only.
        sees: how many keys each row may look at, where a window or chunks leave it fewer.

    Example:
        A head that looks at the word before is a slash, and the simpler shape has it too: it is near.

        >>> fit_shapes(torch.eye(256).roll(-1, 1), torch.arange(256), causal=False).name
        'a_shape'
    """
    n = weights.shape[1]
    budget = max(1, n // BUDGET)
    if sees is None:
        sees = at + 1 if causal else torch.full_like(at, n)
    long_rows = sees > budget
    if not long_rows.any():
        return Fit(shares=dict.fromkeys(SHAPES, 1.0), even=1.0, name="", budget=budget)
    weights, at, even = weights[long_rows], at[long_rows], float((budget / sees[long_rows]).mean())
    fits = (_near_and_first(weights, at, budget, causal), _lines(weights, at, budget), _blocks(weights, at, budget))
    shares = dict(zip(SHAPES, fits, strict=True))
    return Fit(shares=shares, even=even, name=name_of(shares, even) if n >= SHORTEST else "", budget=budget)


def name_of(shares: dict[str, float], even: float) -> str:
    """The simplest shape that explains nearly what the best one does, if that is enough.

    Example:
        >>> name_of({"a_shape": 0.7, "vertical_slash": 0.72, "block_sparse": 0.6}, even=0.1)
        'a_shape'
        >>> name_of({"a_shape": 0.2, "vertical_slash": 0.4, "block_sparse": 0.3}, even=0.1)
        ''
    """
    best = max(shares.values())
    name = next(name for name in SHAPES if shares[name] >= best - CLOSE)
    return name if shares[name] - even >= HALF * (1 - even) and even < 1 else ""


def _splits(budget: int) -> set[int]:
    """Sizes of the first part of a shape within the budget: at least one, and at most all."""
    parts = {max(1, budget // split) for split in SPLITS}
    return parts | {budget - budget // max(SPLITS)}


def _near_and_first(weights: Tensor, at: Tensor, budget: int, causal: bool) -> float:
    """The first keys, and those around the query or before it."""
    n, best = weights.shape[1], 0.0
    cumulative = torch.nn.functional.pad(weights.double().cumsum(1), (1, 0))
    for first in _splits(budget) | {1}:
        near = budget - first
        start = at + 1 - near if causal else at - (near - 1) // 2
        end = torch.maximum((start + near).clamp(max=n), start.clamp(min=first))
        start = start.clamp(min=first)
        inside = (
            cumulative[:, first] + (cumulative.gather(1, end[:, None]) - cumulative.gather(1, start[:, None]))[:, 0]
        )
        best = max(best, float(inside.mean()))
    return best


def _lines(weights: Tensor, at: Tensor, budget: int) -> float:
    """The best columns (vertical) and diagonals (slashes)."""
    n, best = weights.shape[1], 0.0
    columns = best_first(weights.sum(0))
    for n_columns in _splits(budget):
        vertical = columns[:n_columns]
        rest = weights.index_fill(1, vertical, 0.0)
        inside = float(weights[:, vertical].sum())
        if budget > n_columns:
            diagonals = best_first(by_offset(rest, at))[: budget - n_columns] - (n - 1)
            keys = at[:, None] + diagonals
            inside += float(rest.gather(1, keys.clamp(0, n - 1))[(keys >= 0) & (keys < n)].sum())
        best = max(best, inside / len(at))
    return best


def best_first(sums: Float[Tensor, " n"]) -> Int[Tensor, " n"]:
    """Places by their sums of weights, the largest first; of those that only rounding tells apart the first.

    Example:
        >>> best_first(torch.tensor([0.3, 2.0, 2.000001]))
        tensor([1, 2, 0])
    """
    return sums.mul(1e4).round().argsort(descending=True, stable=True)


def by_offset(weights: Float[Tensor, "R T"], at: Int[Tensor, " R"]) -> Float[Tensor, " offsets"]:
    """Sum of the weights on each diagonal, from the farthest behind (-(T - 1)) to the farthest ahead.

    Example:
        >>> by_offset(torch.eye(3), torch.arange(3))
        tensor([0., 0., 3., 0., 0.])
    """
    n = weights.shape[1]
    total = torch.zeros(2 * n - 1)
    for row, place in zip(weights, at.tolist(), strict=True):
        total[n - 1 - place : 2 * n - 1 - place] += row
    return total


def block_side(n: int) -> int:
    """Rows, and columns, of a block: 64 on a long text, as in MInference, and fewer on a short one.

    Example:
        >>> block_side(512), block_side(8_192), block_side(32_768)
        (4, 64, 64)
    """
    return max(1, min(64, n // 128))


def _blocks(weights: Tensor, at: Tensor, budget: int) -> float:
    """The best blocks of each strip of rows."""
    n = weights.shape[1]
    side = block_side(n)
    count = -(-n // side)
    padded = torch.nn.functional.pad(weights, (0, count * side - n)).view(len(at), count, side).sum(-1)
    strips = torch.zeros(count, count).index_add_(0, at // side, padded)
    return float(strips.topk(max(1, budget // side), dim=1).values.sum()) / len(at)
