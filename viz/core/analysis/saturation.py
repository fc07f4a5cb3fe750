"""Saturation of the softmax without the division by sqrt(d_k): random dot products grow with the width."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.analysis.map_statistics import jacobian_norm
from viz.core.attention import row_softmax


@dataclass(frozen=True, kw_only=True)
class Saturation:
    """One number for each width: the ``variance`` of the scores, and medians over the rows of the ``largest`` weight
    and of the norm of the softmax's ``jacobian``.
    """

    variance: Tensor
    largest: Tensor
    jacobian: Tensor


def random_scores(widths: Sequence[int], *, n_rows: int, n_keys: int, seed: int) -> Float[Tensor, "W rows keys"]:
    r"""Scores :math:`q \cdot k` of vectors whose numbers are independent N(0, 1); their variance is their width d.

    Each row has a query and ``n_keys`` keys of its own. Vaswani et al. 2017, footnote 4: the law speaks of vectors
    like these, as at initialisation; trained queries and keys are not independent.

    Example:
        >>> random_scores([1, 4], n_rows=2, n_keys=3, seed=0).shape
        torch.Size([2, 2, 3])
    """
    generator = torch.Generator().manual_seed(seed)

    def scores(width: int) -> Tensor:
        q = torch.randn(n_rows, 1, width, generator=generator)
        k = torch.randn(n_rows, n_keys, width, generator=generator)
        return (q @ k.mT)[:, 0]

    return torch.stack([scores(width) for width in widths])


def saturation(scores: Float[Tensor, "W rows keys"]) -> Saturation:
    """Measure how saturated the softmax of these scores is.

    Medians: a few rows with two nearly equal scores do not saturate and would dominate a mean.

    Example:
        >>> saturation(torch.tensor([[[0.0, 0.0]], [[0.0, 1000.0]]])).largest
        tensor([0.5000, 1.0000])
        >>> saturation(torch.tensor([[[0.0, 0.0], [0.0, 1000.0]]])).largest
        tensor([0.7500])
    """
    weights = row_softmax(scores)
    return Saturation(
        variance=scores.flatten(1).var(-1, correction=0),
        largest=weights.amax(-1).quantile(0.5, dim=-1),
        jacobian=jacobian_norm(weights).quantile(0.5, dim=-1),
    )
