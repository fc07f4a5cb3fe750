"""Checks shared by all sections of the Block page."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from pages.block import compute
from pages.block.context import BlockContext
from pages.block.side import Attention, Side, side_name, torch_name
from viz.core.analysis.checks import largest_ratio, worst
from viz.core.block import STEPS, BlockTrace
from viz.core.norm import moments, standard_error
from viz.frame.checks import Check, attention_checks, check


def worst_checks(attentions: Iterable[Attention]) -> list[Check]:
    """The checks of every attention, each for the one with the largest error relative to its tolerance."""
    farthest = dict[str, Check]()
    for steps, options in attentions:
        for result in attention_checks(steps, **options):
            off = result.error / result.tolerance
            if result.key not in farthest or not off <= farthest[result.key].error / farthest[result.key].tolerance:
                farthest[result.key] = result
    return list(farthest.values())


def worst_attention_checks(sides: Iterable[Side]) -> list[Check]:
    """The same of every attention of the sides' blocks."""
    return worst_checks(attention for side in sides for attention in side.attentions)


def added_error(trace: BlockTrace) -> float:
    """The largest error of a sum against its two terms."""
    points, errors, came_in = trace.points, list[float](), trace.x
    part_end = STEPS[trace.design.norm][-1]
    for name, values in points.items():
        if name.endswith("_add"):
            expected = trace.before(name) + (came_in if trace.design.residual else 0)
            errors.append(float((values - expected).abs().max()))
        if name.endswith(part_end):
            came_in = values
    return worst(errors)


def norm_error(trace: BlockTrace) -> float:
    """The largest error of a norm: of its rows from standard, and of its output from its input normalized."""
    normalize, errors = trace.design.normalize, list[float]()
    for point in trace.points:
        if point.endswith("_norm"):
            before, learned = trace.before(point), trace.norm_weights(point)
            off = (trace.points[point] - normalize(before, learned)).abs().max()
            errors += [float(off), standard_error(before, learned, normalize)]
    return worst(errors)


def moments_error(points: Iterable[Tensor]) -> float:
    """The largest error of mean, standard deviation and length against float64 NumPy, relative to the largest."""
    errors = []
    for values in points:
        shown_moments, exact = moments(values), values.double().numpy()
        expected = {"mean": exact.mean(-1), "std": exact.std(-1), "norm": np.sqrt((exact**2).sum(-1))}
        size = max(1.0, float(expected["norm"].max()))
        for name, numbers in expected.items():
            errors.append(float(np.abs(getattr(shown_moments, name).numpy() - numbers).max()) / size)
    return worst(errors)


def torch_checks(context: BlockContext) -> list[Check]:
    """Every block of each side against its equations, torch's own layer and the model's hidden states: the worst."""
    checks = list[Check]()
    for side in context.sides:
        target = context.target if side.code == "dec" else ""
        rows, name = (
            compute.block_errors(context.source, target, context.plan, context.mask),
            side_name(context.t, side),
        )
        checks.append(check("block.check_equations", worst(row.equations for row in rows), 1e-5, name=name))
        by_torch = [row.torch_layer for row in rows if row.torch_layer is not None]
        if by_torch:
            error, tolerance = largest_ratio(*torch.tensor(by_torch, dtype=torch.float64).T)
            checks.append(check("block.check_torch", error, tolerance, kind=torch_name(side), name=name))
        states = [row.model_state for row in rows if row.model_state is not None]
        if states:
            checks.append(check("block.check_model", worst(states), 1e-5, name=name, n=len(rows)))
    return checks
