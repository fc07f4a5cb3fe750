"""The window closest to a head on a picture: on windows, and by SciPy's search."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from viz.core.analysis.plane_fit import fit_planes, plane_weights
from viz.core.attention import row_softmax

GRID = (5, 7)


def maps(n, grid=GRID, sharp=2.0, seed=0):
    cells = grid[0] * grid[1]
    return row_softmax(sharp * torch.randn(n, cells, cells, generator=torch.Generator().manual_seed(seed)))


def window(offset, alpha, grid):
    """Compute the window cell by cell in NumPy."""
    cells = [(row, column) for row in range(grid[0]) for column in range(grid[1])]
    rows = np.empty((len(cells), len(cells)))
    for i, (row, column) in enumerate(cells):
        away = [(r - row - offset[0]) ** 2 + (c - column - offset[1]) ** 2 for r, c in cells]
        shares = np.exp(-alpha * (np.array(away) - min(away)))
        rows[i] = shares / shares.sum()
    return rows


def share(weights, offset, alpha, grid):
    residual = ((weights - window(offset, alpha, grid)) ** 2).sum()
    return 1 - residual / ((weights - 1 / len(weights)) ** 2).sum()


class TestByHand:
    def test_uniform_weights_have_zero_share(self):
        fit = fit_planes(torch.full((1, 35, 35), 1 / 35), GRID)
        assert float(fit.explained_share) == 0 and float(fit.alpha) == 0


def test_share_equals_window_and_scipys_best():
    """The share is that of the fitted window, and no search with SciPy finds a better one."""
    weights = maps(3, seed=4) * 0.6 + 0.4 * plane_weights(torch.tensor([[0.0, 1.0]]), torch.tensor([0.8]), GRID)
    fit = fit_planes(weights, GRID)
    for head in range(3):
        rows = weights[head].double().numpy()
        offset, alpha = fit.offset[head].tolist(), float(fit.alpha[head])
        fitted_share = float(fit.explained_share[head])
        assert fitted_share == pytest.approx(share(rows, offset, alpha, GRID), abs=1e-4)
        starts = [(0.0, 1.0, 0.0), (*offset, np.log(alpha)), (2.0, -2.0, -1.0)]
        best = max(
            -minimize(
                lambda x, rows=rows: -share(rows, x[:2], np.exp(np.clip(x[2], -7, 3.4)), GRID), start,
                method="Nelder-Mead",
            ).fun
            for start in starts
        )  # fmt: skip
        assert fitted_share >= best - 2e-3
