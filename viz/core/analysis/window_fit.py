"""Fit of quadratic windows to heads: how close a head is to one of a convolution."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import row_softmax

ROWS = 32
"""Queries compared at most, evenly spaced over a longer text."""

REACH = 16
"""Centres are looked for up to this many tokens away."""

ROUNDS = 24
"""Of the search around the best window of the grid, each a step or half as long a step."""


@dataclass(frozen=True, kw_only=True)
class WindowFit:
    """For each head the best window: centre ``offset``, sharpness ``alpha``, and the share of variance it explains.

    ``alpha`` ends at 30: sharper windows are the same in float32.
    """

    offset: Tensor
    alpha: Tensor
    explained_share: Tensor


def window_weights(
    offset: Float[Tensor, "*C"],
    alpha: Float[Tensor, "*C"],
    delta: Float[Tensor, "Q K"],
    allowed: Bool[Tensor, "Q K"],
) -> Float[Tensor, "*C Q K"]:
    r"""The weights of a head that follows position alone: :math:`\operatorname{softmax}(-\alpha (\delta - \Delta)^2)`.

    Example:
        >>> zero = torch.tensor(0.0)
        >>> window_weights(zero, zero, torch.tensor([[0.0, 1.0]]), torch.ones(1, 2).bool())
        tensor([[0.5000, 0.5000]])
    """
    scores = (delta - offset[..., None, None]).square_().mul_(-alpha[..., None, None])
    return row_softmax(scores.masked_fill_(~allowed, -torch.inf))


def fit_windows(weights: Float[Tensor, "H T T"], allowed: Bool[Tensor, "T T"] | None = None) -> WindowFit:
    r"""Find for each head the centre and sharpness whose weights are closest, in the sum of squares.

    .. math:: R^2 = 1 - \frac{\sum_{ij} (A_{ij} - \hat A_{ij})^2}{\sum_{ij} (A_{ij} - U_{ij})^2}

    U spreads every row evenly (alpha = 0), so R² is 0 for a head that position does not explain at all and 1 for one
    that is a window. Found on a grid of windows, then refined around the best by ever smaller steps; a text of more
    than 32 tokens is judged by 32 of its rows.

    Args:
        weights: each row sums to 1 (or is 0).
        allowed: where a query may look; None means everywhere.

    Example:
        >>> fit = fit_windows(torch.eye(5)[[0, 0, 1, 2, 3]][None])  # each looks at the one before
        >>> round(float(fit.offset[0]), 2), round(float(fit.explained_share[0]), 2)
        (-1.0, 1.0)
    """
    return _fit(*_sample_rows(weights, torch.ones_like(weights[0]).bool() if allowed is None else allowed))


def _sample_rows(weights: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """Return the compared rows, and where those may look."""
    rows = _rows(len(allowed))
    return weights[:, rows].float(), allowed[rows]


def _rows(n_tokens: int) -> Tensor:
    """The queries that are compared."""
    return torch.linspace(0, n_tokens - 1, min(n_tokens, ROWS)).round().long()


def _fit(maps: Float[Tensor, "H R T"], open_cells: Bool[Tensor, "R T"]) -> WindowFit:
    n_tokens = maps.shape[-1]
    delta = torch.arange(float(n_tokens)) - _rows(n_tokens)[:, None]
    offset, log_alpha = _coarse(maps, delta, open_cells)
    offset, log_alpha = _refine(maps, delta, open_cells, offset, log_alpha)
    error = _error(maps, window_weights(offset, log_alpha.exp(), delta, open_cells))
    rounded_error = _error(maps, window_weights(offset.round(), log_alpha.exp(), delta, open_cells))
    even = _error(maps, window_weights(torch.zeros(1), torch.zeros(1), delta, open_cells))
    return best_fit(offset, log_alpha.exp(), error=error, rounded_error=rounded_error, even=even)


def best_fit(
    offset: Float[Tensor, "H *D"], alpha: Tensor, *, error: Tensor, rounded_error: Tensor, even: Tensor
) -> WindowFit:
    """Return windows as a fit, by the errors (H,) of these, of those at whole numbers nearby, and of an even spread."""
    # Sharp windows with centres near a whole number are equal: prefer the whole number.
    is_whole_number = rounded_error <= error + 1e-4 * even
    offset = torch.where(is_whole_number.view(-1, *[1] * (offset.ndim - 1)), offset.round(), offset)
    error = torch.where(is_whole_number, rounded_error, error)
    better = error < even
    return WindowFit(
        offset=offset,
        alpha=torch.where(better, alpha, 0.0),
        explained_share=torch.where(better, 1 - error / even.clamp(min=1e-12), 0.0),
    )


def fit_layers(
    layers: Iterable[tuple[Float[Tensor, "H T T"], Bool[Tensor, "T T"]]],
) -> tuple[WindowFit, ...]:
    """:func:`fit_windows` for every layer: all heads at once where all layers may look at the same places.

    Small tensors cost as much as large ones, so six layers together take 0.4 of the time. Only the
    compared rows of each layer stay in memory.

    Args:
        layers: weights, and where a query may look, of one layer after the other.
    """
    samples = [_sample_rows(weights, allowed) for weights, allowed in layers]
    (_, first), *_ = samples
    if any(not torch.equal(open_cells, first) for _, open_cells in samples):
        return tuple(_fit(maps, open_cells) for maps, open_cells in samples)
    together = _fit(torch.cat([maps for maps, _ in samples]), first)
    parts = (value.split([len(maps) for maps, _ in samples]) for value in vars(together).values())
    return tuple(WindowFit(offset=o, alpha=a, explained_share=e) for o, a, e in zip(*parts, strict=True))


def _error(maps: Tensor, windows: Tensor) -> Tensor:
    return (maps - windows).square().sum((-2, -1))


LOWEST, HIGHEST = -7.0, 3.4
"""ln alpha of the widest window (over the longest text here nearly even) and of the sharpest (30)."""


def _coarse(maps: Tensor, delta: Tensor, open_cells: Tensor) -> tuple[Tensor, Tensor]:
    """The best of a grid of windows, the same grid for all heads."""
    reach = min(REACH, maps.shape[-1] - 1)
    centres = torch.arange(-reach, reach + 0.25, 0.5)
    best = torch.full((len(maps),), torch.inf)
    offset, log_alpha = torch.zeros(len(maps)), torch.full((len(maps),), LOWEST)
    for sharpness in torch.linspace(LOWEST, HIGHEST, 14):
        windows = window_weights(centres, sharpness.exp().expand(len(centres)), delta, open_cells).flatten(1)
        # |A - W|^2 without |A|^2, which is the same for all windows
        error, at = (windows.square().sum(-1) - 2 * maps.flatten(1) @ windows.T).min(-1)
        offset, log_alpha = (
            torch.where(error < best, centres[at], offset),
            torch.where(error < best, sharpness, log_alpha),
        )
        best = torch.minimum(error, best)
    return offset, log_alpha


def _refine(
    maps: Tensor, delta: Tensor, open_cells: Tensor, offset: Tensor, log_alpha: Tensor
) -> tuple[Tensor, Tensor]:
    """Refine each head's best window: move to the best of its eight neighbours, or halve the step."""
    steps = torch.tensor([0.0, -1.0, 1.0])
    around = torch.cartesian_prod(steps, steps)[1:]
    heads, step = torch.arange(len(maps)), torch.ones(len(maps), 1)
    least = _error(maps, window_weights(offset, log_alpha.exp(), delta, open_cells))
    for _ in range(ROUNDS):
        centres = (offset[:, None] + 0.5 * step * around[:, 0]).clamp(-REACH, REACH)
        sharpness = (log_alpha[:, None] + 0.8 * step * around[:, 1]).clamp(LOWEST, HIGHEST)
        windows = zip(centres.T, sharpness.exp().T, strict=True)
        errors = torch.stack([_error(maps, window_weights(*window, delta, open_cells)) for window in windows], -1)
        error, best = errors.min(-1)
        better = error < least
        offset = torch.where(better, centres[heads, best], offset)
        log_alpha = torch.where(better, sharpness[heads, best], log_alpha)
        step = torch.where(better[:, None], step, step / 2)
        least = torch.minimum(error, least)
    return offset, log_alpha
