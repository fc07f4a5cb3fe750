"""What must hold of a block, whatever section shows it."""

from collections.abc import Iterable

import numpy as np
from torch import Tensor

from pages.block.side import Attention, Side
from viz.core.analysis.checks import worst
from viz.core.block import BlockTrace
from viz.core.norm import moments, standard_error
from viz.frame.checks import Check, attention_checks


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
