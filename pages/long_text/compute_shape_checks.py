"""The wall done again by NumPy in float64: cells by their rows, shares by cells that are marked one by one."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pages.long_text import compute
from pages.long_text.compute import SAMPLED, SMALL, LongText
from pages.long_text.compute_checks import Array, Places, by_numpy
from viz.core.long.shapes import BUDGET, SPLITS, block_side
from viz.frame.compute.long_texts import kept_long
from viz.models.long.capture import LongCapture

Marks = NDArray[np.bool_]
LAYERS = 4
"""Layers of which one head is done again."""


@kept_long
def wall_errors(text: LongText) -> tuple[float, float]:
    """The errors of cells and shares of one head in some of the layers."""
    capture, cells, shares = compute.read(text), 0.0, 0.0
    n, count = len(capture.tokens.ids), len(capture.layers)
    rows = np.unique(np.rint(np.linspace(0, n - 1, min(n, SAMPLED))).astype(int))
    for layer in {i * (count - 1) // max(1, LAYERS - 1) for i in range(LAYERS)}:
        head = (layer * 7 + n) % capture.n_heads
        weights, small_maps = by_numpy(capture, layer, head, rows), compute.small_maps(text, layer)
        cells = max(cells, _cells_off(weights, rows, small_maps.cells[head].numpy()))
        expected = shares_of(weights, rows, causal=capture.causal, sees=_sees(capture, layer, rows))
        fitted_shares = list(small_maps.fits[head].shares.values())
        shares = max(shares, float(np.abs(np.array(fitted_shares) - expected).max()))
    return cells, shares


@kept_long
def wrong_names(text: LongText) -> int:
    """Return how many heads have another name than the rule gives their shares: a simple shape that explains enough."""
    n = len(compute.read(text).tokens.ids)
    fits = [fit for layer in range(len(compute.read(text).layers)) for fit in compute.small_maps(text, layer).fits]
    return sum(fit.name not in _names(list(fit.shares.items()), fit.even, n) for fit in fits)


def _names(shares: list[tuple[str, float]], even: float, n: int) -> set[str]:
    """The name by the rule; both, where rounding leaves it open.

    Of the shapes within 0.05 of the best the first in their order, if it explains half of what an even spread leaves
    out; none on a text of fewer than 256 tokens.
    """
    names, best = set(), max(share for _, share in shares)
    for near in (-1e-6, 1e-6):
        name, share = next((name, share) for name, share in shares if share >= best - 0.05 + near)
        for enough in (-1e-6, 1e-6):
            explains = even < 1 and (share - even) / (1 - even) >= 0.5 + enough
            names.add(name if explains and n >= 256 else "")
    return names


def _cells_off(weights: Array, rows: Places, cells: NDArray[np.float32]) -> float:
    """The largest error of a cell's largest weight."""
    n = weights.shape[1]
    side = -(-n // min(SMALL, n))
    expected = np.zeros(cells.shape)
    wide = np.maximum.reduceat(weights, np.arange(0, n, side), 1)
    np.maximum.at(expected, rows // side, wide)
    return float(np.abs(expected - cells).max())


def _sees(capture: LongCapture, layer: int, rows: Places) -> Places:
    """Count the keys that rows may look at, cell by cell."""
    n, mask = len(capture.tokens.ids), capture.layers[layer].allowed
    visible = np.ones((len(rows), n), bool) if mask is None else mask(torch.from_numpy(rows), n).numpy()
    return np.asarray((visible & ((np.arange(n) <= rows[:, None]) | (not capture.causal))).sum(1))


def shares_of(weights: Array, rows: Places, *, causal: bool, sees: Places | None = None) -> Array:
    """The attention's share in the best A-shape, lines and blocks; 1 where the budget covers every row."""
    n = weights.shape[1]
    budget = max(1, n // BUDGET)
    if sees is None:
        sees = rows + 1 if causal else np.full(len(rows), n)
    long = sees > budget
    if not long.any():
        return np.ones(3)
    weights, rows = weights[long], rows[long]
    behind = rows[:, None] - np.arange(n)
    shapes = (_near_and_first(behind, budget, causal), _lines(weights, behind, budget))
    best = [max(float((weights * marks).sum()) for marks in candidates) / len(rows) for candidates in shapes]
    return np.array([*best, float((weights * _blocks(weights, rows, budget)).sum()) / len(rows)])


def _near_and_first(behind: NDArray[np.int64], budget: int, causal: bool) -> Iterator[Marks]:
    keys = np.arange(behind.shape[1])
    for first in {1, *_parts(budget)}:
        near = budget - first
        ahead = 0 if causal else near - 1 - (near - 1) // 2
        around = (behind >= -ahead) & (behind <= (near - 1 if causal else (near - 1) // 2))
        yield (keys < first)[None] | (around if near else np.zeros_like(around))


def _parts(budget: int) -> set[int]:
    return {max(1, budget // split) for split in SPLITS} | {budget - budget // max(SPLITS)}


def _lines(weights: Array, behind: NDArray[np.int64], budget: int) -> Iterator[Marks]:
    n = weights.shape[1]
    for many in _parts(budget):
        columns = _best_first(weights.sum(0))[:many]
        upright = np.isin(np.arange(n), columns)[None].repeat(len(weights), 0)
        on = np.bincount((behind + n - 1).ravel(), (weights * ~upright).ravel(), 2 * n - 1)
        best = _best_first(on)[: budget - many] - (n - 1)
        yield upright | np.isin(behind, best)


def _best_first(sums: NDArray[Any]) -> Places:
    """Places by their sums; rounding does not choose among equal words."""
    return np.argsort(-np.rint(sums * 1e4), kind="stable")


def _blocks(weights: Array, rows: Places, budget: int) -> Marks:
    n = weights.shape[1]
    side = block_side(n)
    strip, block = rows // side, np.arange(n) // side
    marks = np.zeros(weights.shape, bool)
    for at in np.unique(strip):
        mass = np.bincount(block, weights[strip == at].sum(0))
        best = _best_first(mass)[: max(1, budget // side)]
        marks[strip == at] = np.isin(block, best)
    return marks
