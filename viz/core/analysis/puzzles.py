"""Checks of puzzles on a trace: the condition that fails first, with its measured and its required value."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Result of a check: the last measured value, and the bound it is compared with.

    ``missing`` names the condition that fails first, "" where none does; ``place`` is the word or head it fails at.
    """

    missing: Literal["", "weight", "copy", "head", "sum"]
    found: float
    wanted: float
    place: int = 0

    @property
    def is_solved(self) -> bool:
        """True if every condition holds."""
        return not self.missing


def check_weight(weights: Float[Tensor, "Q K"], query: int, key: int, *, least: float) -> Verdict:
    """Check that a query gives one key at least ``least`` of its attention.

    Example:
        >>> check_weight(torch.tensor([[0.25, 0.75]]), 0, 1, least=0.5).is_solved
        True
    """
    weight = float(weights[query, key])
    return Verdict(missing="" if weight >= least else "weight", found=weight, wanted=least, place=query)


def check_copies_previous(
    weights: Float[Tensor, "T T"],
    outputs: Float[Tensor, "T d"],
    words: Float[Tensor, "T d"],
    *,
    least: float,
    off: float,
) -> Verdict:
    """Check that every token from the second on looks at the one before it, and that its output is that token's vector.

    Args:
        weights: of the head.
        outputs: of the head, one for each token.
        words: the tokens' vectors.
        least: of its attention that a token must give the one before.
        off: how far a number of what it is given may be from the vector's.

    Example:
        >>> x = torch.eye(3)
        >>> check_copies_previous(x.roll(1, 0), x.roll(1, 0), x, least=0.9, off=0.1).is_solved
        True
    """
    before = weights.diagonal(-1)
    if not (before >= least).all():
        weakest = int(before.argmin())
        return Verdict(missing="weight", found=float(before[weakest]), wanted=least, place=weakest + 1)
    deviations = (outputs[1:] - words[:-1]).abs().amax(-1)
    worst = int(deviations.argmax())
    missing: Literal["", "copy"] = "" if float(deviations[worst]) <= off else "copy"
    return Verdict(missing=missing, found=float(deviations[worst]), wanted=off, place=worst + 1)


def check_cancellation(contributions: Float[Tensor, "H T d"], *, least: float, most: float) -> Verdict:
    """Check that every head adds something, and all together next to nothing; the largest number of each counts.

    Example:
        >>> check_cancellation(torch.tensor([[[1.0]], [[-1.0]]]), least=0.5, most=0.1).is_solved
        True
    """
    of_heads = contributions.abs().flatten(1).amax(-1)
    weakest = int(of_heads.argmin())
    if not float(of_heads[weakest]) >= least:
        return Verdict(missing="head", found=float(of_heads[weakest]), wanted=least, place=weakest)
    remainder = float(torch.sum(contributions, 0).abs().max())
    return Verdict(missing="" if remainder <= most else "sum", found=remainder, wanted=most)
