"""Exact weights of some rows of a head on a long text, whole or a window of them."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from viz.core.attention import row_softmax, softmax_with_sink

WINDOW = 256
"""Rows, and columns, of a window."""

AT_ONCE = 64
"""Rows computed at a time while a window is cut out of them."""

Allowed = Callable[[Tensor, int], Bool[Tensor, "R T"]]
"""A layer's own mask, some rows of it: given which, and how many keys there are, True where a query may look."""

ScoreMod = Callable[[Tensor], Tensor]
"""A change to the scaled scores, each by itself: a soft cap."""


def weights_of_rows(
    q: Float[Tensor, "T d_k"],
    k: Float[Tensor, "T d_k"],
    at: Int[Tensor, " R"],
    *,
    scale: float,
    causal: bool,
    allowed: Allowed | None = None,
    score_mod: ScoreMod | None = None,
    sink: float | None = None,
) -> Float[Tensor, "R T"]:
    """The whole softmax of some rows.

    Options are those of :func:`~viz.core.attention.attend`, for the rows ``at``; ``causal`` needs no mask.

    Example:
        >>> q = k = torch.zeros(4, 2)
        >>> weights_of_rows(q, k, torch.tensor([1]), scale=1.0, causal=True)
        tensor([[0.5000, 0.5000, 0.0000, 0.0000]])
    """
    scores = q[at] @ k.T * scale
    if score_mod is not None:
        scores = score_mod(scores)
    if allowed is not None:
        scores = scores.masked_fill(~allowed(at, len(k)), -torch.inf)
    if causal:
        scores = scores.masked_fill(torch.arange(len(k)) > at[:, None], -torch.inf)
    return row_softmax(scores) if sink is None else softmax_with_sink(scores[None], torch.tensor([sink]))[0]


def window(
    q: Float[Tensor, "T d_k"],
    k: Float[Tensor, "T d_k"],
    *,
    row: int,
    column: int,
    **options: Any,
) -> Float[Tensor, "R C"]:
    """The weights of ``WINDOW`` rows and columns from here on, or of as many as there are.

    They are cut out of whole rows: a weight computed alone from a stored sum would be off by the rounding of its score,
    more than 1e-5 for scores in the hundreds.

    Example:
        >>> q = k = torch.zeros(4, 2)
        >>> window(q, k, row=2, column=1, scale=1.0, causal=True)
        tensor([[0.3333, 0.3333, 0.0000],
                [0.2500, 0.2500, 0.2500]])
    """
    strips = torch.arange(len(q))[row : row + WINDOW].split(AT_ONCE)
    blocks = (weights_of_rows(q, k, at, **options) for at in strips)
    # A slice would keep the whole rows in memory.
    return torch.cat([weights[:, column : column + WINDOW].clone() for weights in blocks])


def evenly_spaced(n: int, most: int) -> Int[Tensor, " R"]:
    """At most so many rows of n, from the first to the last.

    Example:
        >>> evenly_spaced(3, 5), evenly_spaced(101, 3)
        (tensor([0, 1, 2]), tensor([  0,  50, 100]))
    """
    return torch.linspace(0, n - 1, min(n, most), dtype=torch.float64).round().long()
