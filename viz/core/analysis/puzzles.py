"""Whether a layer does what a puzzle asks for, and what is still missing: measured on its trace."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What was measured last, and how large it must be, or may be.

    ``missing`` names the condition that fails first, "" where none does; ``place`` is the word or head it fails at.
    """

    missing: Literal["", "weight", "copy", "head", "sum"]
    found: float
    wanted: float
    place: int = 0

    @property
    def is_solved(self) -> bool:
        """Nothing is missing."""
        return not self.missing


def looks_at(weights: Float[Tensor, "Q K"], query: int, key: int, *, least: float) -> Verdict:
    """Whether a query gives one key at least so much of its attention.

    Example:
        >>> looks_at(torch.tensor([[0.25, 0.75]]), 0, 1, least=0.5).is_solved
        True
    """
    found = float(weights[query, key])
    return Verdict(missing="" if found >= least else "weight", found=found, wanted=least, place=query)


def copies_previous(
    weights: Float[Tensor, "T T"],
    written: Float[Tensor, "T d"],
    words: Float[Tensor, "T d"],
    *,
    least: float,
    off: float,
) -> Verdict:
    """Whether every token from the second on looks at the one before it, and what it is given is that token's vector.

    Args:
        weights: of the head.
        written: what the head gives each token.
        words: the tokens' vectors.
        least: of its attention that a token must give the one before.
        off: how far a number of what it is given may be from the vector's.

    Example:
        >>> x = torch.eye(3)
        >>> copies_previous(x.roll(1, 0), x.roll(1, 0), x, least=0.9, off=0.1).is_solved
        True
    """
    before = weights.diagonal(-1)
    if not (before >= least).all():
        weakest = int(before.argmin())
        return Verdict(missing="weight", found=float(before[weakest]), wanted=least, place=weakest + 1)
    apart = (written[1:] - words[:-1]).abs().amax(-1)
    worst = int(apart.argmax())
    missing: Literal["", "copy"] = "" if float(apart[worst]) <= off else "copy"
    return Verdict(missing=missing, found=float(apart[worst]), wanted=off, place=worst + 1)


def cancels(contributions: Float[Tensor, "H T d"], *, least: float, most: float) -> Verdict:
    """Whether every head adds something, and all together add next to nothing; of each the largest number counts.

    Example:
        >>> cancels(torch.tensor([[[1.0]], [[-1.0]]]), least=0.5, most=0.1).is_solved
        True
    """
    of_heads = contributions.abs().flatten(1).amax(-1)
    weakest = int(of_heads.argmin())
    if not float(of_heads[weakest]) >= least:
        return Verdict(missing="head", found=float(of_heads[weakest]), wanted=least, place=weakest)
    left = float(torch.sum(contributions, 0).abs().max())
    return Verdict(missing="" if left <= most else "sum", found=left, wanted=most)
