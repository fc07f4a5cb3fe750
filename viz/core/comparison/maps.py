"""Differences between a head's maps of two texts: cell by cell, row by row, and in one number for each head."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from viz.core.analysis.map_statistics import total_variation


def place_on_slots(maps: Float[Tensor, "*B T T"], places: Int[Tensor, " U"]) -> Float[Tensor, "*B U U"]:
    """A text's maps on the slots of an alignment; NaN where the text has no such token, for there is no weight.

    Example:
        >>> place_on_slots(torch.tensor([[0.9, 0.1], [0.4, 0.6]]), torch.tensor([0, -1, 1]))
        tensor([[0.9000,    nan, 0.1000],
                [   nan,    nan,    nan],
                [0.4000,    nan, 0.6000]])
    """
    at, missing = places.clamp(min=0), places < 0
    return maps[..., at, :][..., at].masked_fill(missing[:, None] | missing, torch.nan)


def row_change(a: Float[Tensor, "*B Q U"], b: Float[Tensor, "*C Q U"]) -> Float[Tensor, "*D Q"]:
    r"""Distance between the rows of two maps: the total variation over the keys that both have.

    .. math:: \tfrac12 \sum_{j \in S} \Big| \frac{A_{ij}}{\sum_S A_{im}} - \frac{B_{ij}}{\sum_S B_{im}} \Big|

    Every row is scaled up to sum to 1 over the shared keys S. A softmax over fewer keys is the softmax over all of
    them, scaled up so: this is what the rows would be if the keys that only one text has were masked. Without it one
    more word in a text would count as a change of every head, for it takes some weight from all others.

    NaN where a row is only one text's, or has no weight on any shared key.

    Example:
        >>> a, b = torch.tensor([[0.5, torch.nan, 0.5]]), torch.tensor([[0.2, 0.6, 0.2]])
        >>> row_change(a, b)
        tensor([0.])
    """
    shared = ~(a.isnan() | b.isnan())
    rows = [maps.where(shared, 0.0) for maps in (a, b)]
    sums = [row.sum(-1, keepdim=True) for row in rows]
    p, q = (row / total.clamp(min=1e-30) for row, total in zip(rows, sums, strict=True))
    counts = (sums[0] > 0) & (sums[1] > 0)
    return total_variation(p, q).where(counts[..., 0], torch.nan)


def change(a: Float[Tensor, "*B Q U"], b: Float[Tensor, "*C Q U"]) -> Float[Tensor, "*D"]:
    """The mean of :func:`row_change` over the rows that both texts have; NaN if there are none.

    Example:
        >>> change(torch.eye(2), torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
        tensor(0.5000)
    """
    return row_change(a, b).nanmean(-1)
