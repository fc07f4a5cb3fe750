"""One head on three words of four numbers, small enough to redo on paper; the user may change all of it.

The inputs are made up; :mod:`viz.core` computes the rest, as for a real model.
"""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from viz import ASSETS, limits
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.frame.lazy import lazy

WORDS, WIDTH = 3, 4
SHAPES = {
    "x": (WORDS, WIDTH),
    "w_q": (WIDTH, WIDTH),
    "w_k": (WIDTH, WIDTH),
    "w_v": (WIDTH, WIDTH),
    "w_o": (WIDTH, WIDTH),
}
"""Shapes of the editable inputs (the words' vectors and the head's matrices) in the order of a link."""

COUNT = sum(math.prod(shape) for shape in SHAPES.values())
MOST, DECIMALS = limits.HAND_NUMBER, 2
"""A number of the user's lies between -MOST and MOST, and has two decimals."""

SEPARATOR = "|"
"""Separates the words in a link; no word contains it."""


@cache
def default_numbers() -> tuple[float, ...]:
    """Read the numbers of ``assets/by_hand.toml``, flattened."""
    with (ASSETS / "by_hand.toml").open("rb") as file:
        matrices = tomllib.load(file)
    return tuple(float(number) for name in SHAPES for row in matrices[name] for number in row)


def to_code(numbers: tuple[float, ...]) -> str:
    """Encode the numbers for a link.

    Example:
        >>> to_code((1.0, -0.5, 0.0))
        '1_-0.5_0'
    """
    return "_".join(f"{number:g}" for number in numbers)


def from_code(code: str) -> tuple[float, ...]:
    """Decode the numbers that :func:`to_code` encoded.

    Raises:
        ValueError: if the count is wrong or a number is not allowed.
    """
    numbers = tuple(tidy(part) for part in code.split("_", COUNT))
    if len(numbers) != COUNT:
        raise ValueError(f"{len(numbers)} numbers, not {COUNT}")
    return numbers


def tidy(number: Any) -> float:
    """Round a user's number to two decimals.

    Raises:
        ValueError: if it is not a number, or too large.

    Example:
        >>> tidy("1.239"), tidy(-0.001)
        (1.24, 0.0)
    """
    if not isinstance(number, str | int | float) or not -MOST <= (value := float(number)) <= MOST:
        raise ValueError(f"{number!r:.40} is not a number from {-MOST} to {MOST}")
    # The sum with 0 turns −0 into 0.
    return round(value, DECIMALS) + 0.0


def read_words(code: str) -> tuple[str, ...]:
    """Decode the words of a link, each truncated to the limit.

    Raises:
        ValueError: if they are not three.

    Example:
        >>> read_words("cats|eat|fish")
        ('cats', 'eat', 'fish')
    """
    words = tuple(word.strip()[: limits.HAND_CHARACTERS] for word in code.split(SEPARATOR, WORDS))
    if len(words) != WORDS or not all(words):
        raise ValueError(f"{len(words)} words, not {WORDS}")
    return words


def with_number(numbers: tuple[float, ...], matrix: str, row: int, column: int, value: float) -> tuple[float, ...]:
    """Return the numbers with one replaced.

    Raises:
        ValueError: if there is no such place, or the number is not allowed.
    """
    if matrix not in SHAPES or not (0 <= row < SHAPES[matrix][0] and 0 <= column < SHAPES[matrix][1]):
        raise ValueError(f"no number at {matrix!r:.20} {row} {column}")
    names = list(SHAPES)
    before = sum(math.prod(SHAPES[name]) for name in names[: names.index(matrix)])
    at = before + row * SHAPES[matrix][1] + column
    return (*numbers[:at], tidy(value), *numbers[at + 1 :])


@dataclass(frozen=True, kw_only=True)
class HandExample:
    """Three words, the numbers of the inputs, and the flag of a causal mask."""

    words: tuple[str, ...]
    numbers: tuple[float, ...]
    is_causal: bool

    @lazy
    def inputs(self) -> dict[str, Tensor]:
        """X and the head's matrices, by name; exact, in double precision."""
        pieces = torch.tensor(self.numbers, dtype=torch.float64).split([math.prod(shape) for shape in SHAPES.values()])
        return {name: piece.view(SHAPES[name]) for name, piece in zip(SHAPES, pieces, strict=True)}

    @lazy
    def trace(self) -> MultiHeadTrace:
        """Every step of the head, by the core."""
        x, *matrices = self.inputs.values()
        spec = AttentionSpec(d_model=WIDTH, n_heads=1)
        weights = HeadWeights(spec=spec, **dict(zip(("w_q", "w_k", "w_v", "w_o"), matrices, strict=True)))
        return multi_head(x, x, weights, allowed=causal(WORDS, WORDS) if self.is_causal else None)

    @lazy
    def shifts(self) -> list[float]:
        """Amount to subtract from each row of scores before the exponential, so that its powers can be printed.

        It changes no weight. It is 0 where the row's largest exponential is from 1 to 150.
        """
        peaks = self.trace.masked[0].amax(-1).tolist()
        return [0.0 if 0 <= peak <= 5 else peak for peak in peaks]

    @lazy
    def exponentials(self) -> Tensor:
        """Exponentials of the masked scores less their row's shift; the last column is their sum."""
        exps = (self.trace.masked[0] - torch.tensor(self.shifts, dtype=torch.float64)[:, None]).exp()
        return torch.cat([exps, exps.sum(-1, keepdim=True)], dim=-1)
