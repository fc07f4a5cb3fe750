"""Vectors in three bytes a number instead of four, as exact as float32 where they are multiplied with each other."""

from dataclasses import dataclass

import torch
from torch import Tensor

LARGEST = 2**23 - 1
"""Steps from 0 to a vector's largest number: what a signed number of 24 bits holds."""


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Vectors (N, T, d) as whole multiples of a ``step`` (N, T, 1): two bytes ``high``, one byte ``low``.

    Each vector has its own step, so a number is off by at most a step: 2^-23 of the largest number of its vector, about
    what a float32 product of two vectors is off by anyway.
    """

    high: Tensor
    low: Tensor
    step: Tensor

    def __getitem__(self, at: int) -> Tensor:
        """Return the vectors (T, d) at one place of the first axis, in float32."""
        return _unpack(self.high[at], self.low[at], self.step[at])

    def __len__(self) -> int:
        return len(self.high)

    def unpack(self) -> Tensor:
        """Return all vectors, in float32."""
        return _unpack(self.high, self.low, self.step)


def pack(values: Tensor) -> Packed:
    """Pack float32 vectors (N, T, d).

    Example:
        >>> pack(torch.tensor([[[1.0, -0.5, 0.0]]])).unpack()
        tensor([[[ 1.0000, -0.5000,  0.0000]]])
    """
    step = values.abs().amax(-1, keepdim=True) / LARGEST
    integers = (values / step.where(step > 0, 1)).round().clamp(-LARGEST, LARGEST).int()
    return Packed(high=(integers >> 8).short(), low=(integers & 255).to(torch.uint8), step=step)


def _unpack(high: Tensor, low: Tensor, step: Tensor) -> Tensor:
    return ((high.int() << 8) | low.int()).float() * step
