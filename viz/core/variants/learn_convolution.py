"""A student and a teacher: quadratic heads learn, by gradient descent alone, to imitate a hidden convolution."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import conv2d, pad

from viz.core.attention import row_softmax
from viz.core.variants.relative import QuadraticHeads, axial_layer, kernel_offsets, quadratic_scores, value_heads

SIDE = 12
"""Rows and columns of the picture both look at."""

Start = Callable[[int, torch.Generator], Tensor]


def init_centered(n_heads: int, generator: torch.Generator) -> Float[Tensor, "H 2"]:
    """All centres close to the query itself, a little apart: equal heads would stay equal."""
    return 0.1 * torch.randn(n_heads, 2, generator=generator)


def init_scattered(n_heads: int, generator: torch.Generator) -> Float[Tensor, "H 2"]:
    """Centres drawn from a normal distribution a little narrower than the kernel: what works best (38 of 40 seeds)."""
    return 0.7 * torch.randn(n_heads, 2, generator=generator)


def init_near_cells(n_heads: int, generator: torch.Generator) -> Float[Tensor, "H 2"]:
    """Each centre close to a cell of the kernel."""
    return kernel_offsets((3, 3)).repeat(-(-n_heads // 9), 1)[:n_heads] + init_centered(n_heads, generator)


STARTS: Mapping[str, Start] = {"scattered": init_scattered, "middle": init_centered, "cells": init_near_cells}


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Configuration of a run; equal configurations give equal runs.

    Args:
        seed: of the picture, the hidden kernel and the start.
        n_heads: the student's; a 3 x 3 kernel has nine cells.
        learning_rate: Adam's at the first step; it falls to 2 % of that along half a cosine.
        alpha: every head's sharpness at the start.
        free_alpha: whether sharpness is learned too.
        start: where the centres begin, a key of :data:`STARTS`.
        steps: how many there are.

    Raises:
        ValueError: if a value is out of its range.
    """

    seed: int
    n_heads: int = 9
    learning_rate: float = 0.1
    alpha: float = 1.0
    free_alpha: bool = True
    start: str = "scattered"
    steps: int = 600

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise ValueError(f"start={self.start!r} is none of {', '.join(STARTS)}")
        for name in ("n_heads", "learning_rate", "alpha", "steps"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)} must be above 0")


@dataclass(frozen=True, kw_only=True)
class Teacher:
    """Target of the training: ``image`` (1, rows, columns), ``kernel`` (1, 1, 3, 3), and the convolution's output."""

    image: Tensor
    kernel: Tensor
    target: Tensor


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """State of the student after ``step`` steps; ``loss`` is its mean squared error there."""

    step: int
    loss: float
    heads: QuadraticHeads


def teacher(lesson: Lesson) -> Teacher:
    """Draw noise and a 3 x 3 kernel whose output has variance 1 on average: a loss is a share of variance missed.

    Example:
        >>> teacher(Lesson(seed=0)).target.shape
        torch.Size([1, 12, 12])
    """
    generator = torch.Generator().manual_seed(lesson.seed)
    image = torch.randn(1, SIDE, SIDE, generator=generator)
    kernel = torch.randn(1, 1, 3, 3, generator=generator) / 3
    target = conv2d(pad(image[None], (1, 1, 1, 1), mode="replicate"), kernel)[0]
    return Teacher(image=image, kernel=kernel, target=target)


def learn(lesson: Lesson, *, every: int = 20) -> Iterator[Snapshot]:
    """Train the student; yield a snapshot at step 0, after every ``every`` steps, and at the end.

    Learned are the centres, their values in W_O and, if free, ln alpha (so that alpha stays positive). Adam,
    mean squared error against the teacher's output.

    Args:
        lesson: what is learned and how.
        every: steps between two snapshots. A run may be left at any snapshot and taken up again.

    Example:
        >>> [shot.step for shot in learn(Lesson(seed=0, steps=5), every=2)]
        [0, 2, 4, 5]
    """
    goal = teacher(lesson)
    generator = torch.Generator().manual_seed(lesson.seed + 1)
    offset = STARTS[lesson.start](lesson.n_heads, generator).requires_grad_()
    log_alpha = torch.full((lesson.n_heads,), math.log(lesson.alpha)).requires_grad_(lesson.free_alpha)
    blocks = (0.3 * torch.randn(lesson.n_heads, 1, 1, generator=generator)).requires_grad_()
    parameters = [values for values in (offset, log_alpha, blocks) if values.requires_grad]
    adam = torch.optim.Adam(parameters, lr=lesson.learning_rate, betas=(0.9, 0.99))

    for step in range(lesson.steps + 1):
        if step % every == 0 or step == lesson.steps:
            with torch.no_grad():
                heads = value_heads(offset.clone(), log_alpha.exp(), blocks.clone())
                yield Snapshot(step=step, loss=float(_loss(heads, goal)), heads=heads)
        if step < lesson.steps:
            fall = 0.02 + 0.98 * (1 + math.cos(math.pi * step / lesson.steps)) / 2
            adam.param_groups[0]["lr"] = lesson.learning_rate * fall
            with torch.enable_grad():
                adam.zero_grad()
                _loss(value_heads(offset, log_alpha.exp(), blocks), goal).backward()
                adam.step()


def _loss(heads: QuadraticHeads, goal: Teacher) -> Tensor:
    return (axial_layer(heads, goal.image) - goal.target).square().mean()


def effective_kernel(heads: QuadraticHeads, reach: int) -> Float[Tensor, "d_out d_in k k"]:
    r"""Convolution kernel that the heads amount to, far from borders.

    .. math:: w_\delta = \sum_h A^{(h)}_\delta\, W_V W_O^{(h)}

    Args:
        heads: of two dimensions.
        reach: shifts from -reach to reach are shown; what lies beyond is cut off.

    Example:
        >>> kernel = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> from viz.core.variants.relative import heads_from_kernel
        >>> torch.allclose(effective_kernel(heads_from_kernel(kernel, alpha=40.0), 1), kernel, atol=1e-5)
        True
    """
    side = 2 * (reach + 8) + 1
    middle = torch.tensor([side * side // 2])
    weights = row_softmax(quadratic_scores(heads.offset, heads.alpha, (side, side), middle))
    window = weights.reshape(-1, side, side)[:, 8:-8, 8:-8]
    blocks = heads.weights.w_v @ heads.weights.w_o.unflatten(0, (len(heads.offset), -1))
    return torch.einsum("hij,hdo->odij", window, blocks)
