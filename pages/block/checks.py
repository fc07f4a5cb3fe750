"""What must hold of a block, whatever section shows it."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from pages.block import compute
from pages.block.context import BlockContext
from pages.block.side import Attention, Side, side_name, torch_name
from viz.core.analysis.checks import farthest_off, worst
from viz.core.block import BlockTrace
from viz.core.norm import moments, standard_error
from viz.frame.checks import Check, attention_checks, check


def worst_checks(attentions: Iterable[Attention]) -> list[Check]:
    """What holds of every attention, said once: of the one that is farthest off for its size."""
    farthest = dict[str, Check]()
    for steps, asked in attentions:
        for found in attention_checks(steps, **asked):
            off = found.error / found.tolerance
            if found.key not in farthest or not off <= farthest[found.key].error / farthest[found.key].tolerance:
                farthest[found.key] = found
    return list(farthest.values())


def worst_attention_checks(sides: Iterable[Side]) -> list[Check]:
    """The same of every attention of the sides' blocks."""
    return worst_checks(attention for side in sides for attention in side.attentions)


def added_error(trace: BlockTrace) -> float:
    """How far any sum is from its two terms."""
    points, errors, came_in = trace.points, list[float](), trace.x
    part_ends = "_add" if trace.design.norm == "pre" else "_norm"
    for name, values in points.items():
        if name.endswith("_add"):
            expected = points[name.removesuffix("_add")] + (came_in if trace.design.residual else 0)
            errors.append(float((values - expected).abs().max()))
        if name.endswith(part_ends):
            came_in = values
    return worst(errors)


def norm_error(trace: BlockTrace) -> float:
    """How far any norm's rows are from standard, and what is shown from the norm of what came before."""
    normalize, errors = trace.design.normalize, list[float]()
    for point in trace.points:
        if point.endswith("_norm"):
            came, learned = trace.before(point), trace.norm_weights(point)
            off = (trace.points[point] - normalize(came, learned)).abs().max()
            errors += [float(off), standard_error(came, learned, normalize)]
    return worst(errors)


def moments_error(points: Iterable[Tensor]) -> float:
    """How far mean, standard deviation and length are from numpy's in double precision, as a share of the largest."""
    errors = []
    for values in points:
        seen, exact = moments(values), values.double().numpy()
        expected = {"mean": exact.mean(-1), "std": exact.std(-1), "norm": np.sqrt((exact**2).sum(-1))}
        size = max(1.0, float(expected["norm"].max()))
        for name, numbers in expected.items():
            errors.append(float(np.abs(getattr(seen, name).numpy() - numbers).max()) / size)
    return worst(errors)


def torch_checks(context: BlockContext) -> list[Check]:
    """Every block of each side against its equations, torch's own layer and the model's hidden states: the worst."""
    found = list[Check]()
    for side in context.sides:
        target = context.target if side.code == "dec" else ""
        rows, name = compute.compared(context.source, target, context.plan, context.mask), side_name(context.t, side)
        found.append(check("block.check_equations_side", worst(row.equations for row in rows), 1e-5, name=name))
        by_torch = [row.torch_layer for row in rows if row.torch_layer is not None]
        if by_torch:
            error, tolerance = farthest_off(*torch.tensor(by_torch, dtype=torch.float64).T)
            found.append(check("block.check_torch", error, tolerance, kind=torch_name(side), name=name))
        states = [row.model_state for row in rows if row.model_state is not None]
        if states:
            found.append(check("block.check_model", worst(states), 1e-5, name=name, n=len(rows)))
    return found
