"""Fit of quadratic windows on the plane to the heads of a picture: how close a head is to one of a convolution.

:mod:`viz.core.analysis.window_fit` does the same for a head on a text.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.analysis.window_fit import HIGHEST, LOWEST, ROUNDS, WindowFit, best_fit
from viz.core.attention import row_softmax
from viz.core.variants.relative import quadratic_scores


def plane_weights(
    offset: Float[Tensor, "H 2"], alpha: Float[Tensor, " H"], grid: Sequence[int]
) -> Float[Tensor, "H P P"]:
    r"""The weights of heads that follow position alone: :math:`\operatorname{softmax}(-\alpha \|\delta - \Delta\|^2)`.

    Example:
        >>> plane_weights(torch.tensor([[0.0, 1.0]]), torch.tensor([40.0]), (1, 2))[0].round(decimals=4)
        tensor([[0., 1.],
                [0., 1.]])
    """
    return row_softmax(quadratic_scores(offset, alpha, grid))


def fit_planes(weights: Float[Tensor, "H P P"], grid: Sequence[int]) -> WindowFit:
    r"""Find for each head the centre and sharpness whose weights are closest, in the sum of squares.

    .. math:: R^2 = 1 - \frac{\sum_{ij} (A_{ij} - \hat A_{ij})^2}{\sum_{ij} (A_{ij} - U_{ij})^2}

    As :func:`~viz.core.analysis.window_fit.fit_windows`, with a centre (down, right) for each head: a window on a
    picture is one on its rows times one on its columns, so the windows of a whole grid of centres are compared at
    the price of a few. Centres are sought as far as the picture goes.

    Args:
        weights: each row sums to 1; cells in reading order.
        grid: (rows, columns).

    Example:
        >>> fit = fit_planes(plane_weights(torch.tensor([[-1.0, 2.0]]), torch.tensor([3.0]), (4, 5)), (4, 5))
        >>> [round(part, 2) for part in fit.offset[0].tolist()], round(float(fit.explained_share[0]), 3)
        ([-1.0, 2.0], 1.0)
    """
    rows, columns = grid
    blocks = weights.float().unflatten(1, (rows, columns)).unflatten(3, (rows, columns)).transpose(2, 3).contiguous()
    offset, log_alpha = _refine(blocks, *_coarse(blocks))
    even = (weights - 1 / (rows * columns)).square().sum((-2, -1))
    error = _error(weights, offset, log_alpha.exp(), grid)
    rounded_error = _error(weights, offset.round(), log_alpha.exp(), grid)
    return best_fit(offset, log_alpha.exp(), error=error, rounded_error=rounded_error, even=even)


def _error(weights: Tensor, offset: Tensor, alpha: Tensor, grid: Sequence[int]) -> Tensor:
    """Sum of squares, head by head: all windows of a large model at once would be as large as its maps."""
    windows = (plane_weights(offset[i : i + 1], alpha[i : i + 1], grid)[0] for i in range(len(weights)))
    return torch.stack([(head - window).square().sum() for head, window in zip(weights, windows, strict=True)])


def _axis(centres: Float[Tensor, "*C"], alpha: Float[Tensor, "*C"], size: int) -> Float[Tensor, "*C size size"]:
    """Windows along one axis."""
    at = torch.arange(float(size))
    delta = at - at[:, None]
    return row_softmax(-alpha[..., None, None] * (delta - centres[..., None, None]).square())


def _coarse(blocks: Float[Tensor, "H R R C C"]) -> tuple[Tensor, Tensor]:
    """The best of a grid of windows, the same grid for all heads: ``blocks`` has both rows first, then both columns."""
    H, rows, _, columns, _ = blocks.shape
    down, right = (torch.arange(1 - size, size - 0.5, 0.5) for size in (rows, columns))
    best = torch.full((H,), torch.inf)
    offset, log_alpha = torch.zeros(H, 2), torch.full((H,), LOWEST)
    for sharpness in torch.linspace(LOWEST, HIGHEST, 14):
        by_rows, by_columns = (
            _axis(centres, sharpness.exp().expand(len(centres)), size).flatten(1)
            for centres, size in ((down, rows), (right, columns))
        )
        # |A - W|^2 without |A|^2, which is the same for all windows; W is a product, and so are its sums
        products = torch.einsum("hrc,ar->hac", blocks.reshape(H, rows * rows, -1), by_rows) @ by_columns.T
        squares = by_rows.square().sum(-1)[:, None] * by_columns.square().sum(-1)
        error, at = (squares - 2 * products).flatten(1).min(-1)
        centre = torch.stack([down[at // len(right)], right[at % len(right)]], -1)
        offset = torch.where((error < best)[:, None], centre, offset)
        log_alpha = torch.where(error < best, sharpness, log_alpha)
        best = torch.minimum(error, best)
    return offset, log_alpha


def _refine(blocks: Tensor, offset: Tensor, log_alpha: Tensor) -> tuple[Tensor, Tensor]:
    """Refine each head's best window: move to the best of its 26 neighbours, or halve the step."""
    H, rows, _, columns, _ = blocks.shape
    flat, heads, step = blocks.reshape(H, rows * rows, columns * columns), torch.arange(H), torch.ones(H)
    moves = torch.tensor([0.0, -1.0, 1.0])
    for _ in range(ROUNDS):
        sharpness = (log_alpha[:, None] + 0.8 * step[:, None] * moves).clamp(LOWEST, HIGHEST)
        down, right = (
            (offset[:, i, None] + 0.5 * step[:, None] * moves).clamp(1 - size, size - 1)
            for i, size in enumerate((rows, columns))
        )
        # every centre with every sharpness, (H, alphas, centres, size * size)
        by_rows, by_columns = (
            _axis(centres[:, None].expand(-1, 3, -1), sharpness.exp()[:, :, None].expand(-1, -1, 3), size).flatten(-2)
            for centres, size in ((down, rows), (right, columns))
        )
        products = (by_rows.flatten(1, 2) @ flat).unflatten(1, (3, 3)) @ by_columns.mT
        squares = by_rows.square().sum(-1)[..., None] * by_columns.square().sum(-1)[:, :, None]
        best = (squares - 2 * products).flatten(1).argmin(-1)
        before = torch.cat([offset, log_alpha[:, None]], -1)
        offset = torch.stack([down[heads, best // 3 % 3], right[heads, best % 3]], -1)
        log_alpha = sharpness[heads, best // 9]
        # Not "best is 0": at an end of the range a move is clamped to no move, and may win among equals.
        stays = (torch.cat([offset, log_alpha[:, None]], -1) == before).all(-1)
        step = torch.where(stays, step / 2, step)
    return offset, log_alpha
