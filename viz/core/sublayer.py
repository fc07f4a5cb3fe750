"""A part of a block with its residual and its norm: the two equations of post-norm and pre-norm."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from viz.core.feed_forward import FeedForwardTrace
from viz.core.heads import MultiHeadTrace

Normalize = Callable[[Tensor], Tensor]
Part = TypeVar("Part", MultiHeadTrace, FeedForwardTrace)
"""Trace of a part between a residual and a norm; its ``output`` is as wide as its input."""


@dataclass(frozen=True, kw_only=True)
class SublayerTrace(Generic[Part]):
    """One part of a block between its residual and its norm, every step kept, in the order of the design.

    ``x`` is the input, ``part`` the trace of attention or the feed-forward network, ``added`` has the residual,
    ``normed`` the norm. A step that is switched off returns its input.
    """

    x: Tensor
    part: Part
    added: Tensor
    normed: Tensor
    output: Tensor


def post_norm(x: Tensor, f: Callable[[Tensor], Part], N: Normalize, *, residual: bool) -> SublayerTrace[Part]:
    r"""The sum is normed: :math:`N(x + f(x))`. Vaswani et al. 2017, sec. 3.1."""
    part = f(x)
    added = x + part.output if residual else part.output
    normed = N(added)
    return SublayerTrace(x=x, part=part, added=added, normed=normed, output=normed)


def pre_norm(x: Tensor, f: Callable[[Tensor], Part], N: Normalize, *, residual: bool) -> SublayerTrace[Part]:
    r"""The input is normed: :math:`x + f(N(x))`, as in GPT-2. No norm is on the residual path.

    Xiong et al. 2020.
    """
    normed = N(x)
    part = f(normed)
    added = x + part.output if residual else part.output
    return SublayerTrace(x=x, part=part, added=added, normed=normed, output=added)
