"""A part of a block with its residual and its norms: the equations of the four places where norms stand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from viz.core.experts import NetworkTrace
from viz.core.heads import MultiHeadTrace

Normalize = Callable[[Tensor], Tensor]

Part = TypeVar("Part", bound=MultiHeadTrace | NetworkTrace)
"""Trace of a part between a residual and a norm; its ``output`` is as wide as its input."""


@dataclass(frozen=True, kw_only=True)
class SublayerTrace(Generic[Part]):
    """One part of a block with its residual and its norms, every step kept, in the order of the design.

    ``x`` is the input, ``part`` the trace of attention or the feed-forward network, ``added`` has the residual,
    ``normed`` the norm, ``out_normed`` the second one of a sandwich. A step that is switched off returns its input.
    """

    x: Tensor
    part: Part
    added: Tensor
    normed: Tensor
    output: Tensor
    out_normed: Tensor | None = None


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


def output_norm(x: Tensor, f: Callable[[Tensor], Part], N: Normalize, *, residual: bool) -> SublayerTrace[Part]:
    r"""The part's output is normed: :math:`x + N(f(x))`, as in OLMo 2. The part reads x as it is.

    Liu et al. 2022 (Swin V2), sec. 3.2.
    """
    part = f(x)
    normed = N(part.output)
    added = x + normed if residual else normed
    return SublayerTrace(x=x, part=part, added=added, normed=normed, output=added)


def sandwich_norm(
    x: Tensor, f: Callable[[Tensor], Part], N: Normalize, N_out: Normalize, *, residual: bool
) -> SublayerTrace[Part]:
    r"""Input and output of the part are normed: :math:`x + N'(f(N(x)))`, as in Gemma 2.

    Ding et al. 2021 (CogView), sec. 2.4.
    """
    normed = N(x)
    part = f(normed)
    out_normed = N_out(part.output)
    added = x + out_normed if residual else out_normed
    return SublayerTrace(x=x, part=part, added=added, normed=normed, out_normed=out_normed, output=added)
