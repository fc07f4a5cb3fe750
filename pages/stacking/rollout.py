"""Attention rollout multiplied anew by numpy, for the checks of "Where from?"."""

import numpy as np

from pages.stacking.compute import attention_maps
from pages.stacking.context import StackingContext
from viz.core.analysis.checks import rows_error, worst
from viz.frame.checks import Check, check


def rollout_checks(context: StackingContext) -> list[Check]:
    """Check the rollout's rows, and all its numbers."""
    layers = context.layers(context.depth)
    return [
        check("stacking.check_rollout", rows_error(context.rollouts.through), 1e-5, layers=layers),
        check("stacking.check_by_hand", rollout_error(context), 1e-5),
    ]


def rollout_error(context: StackingContext) -> float:
    """Return the error of the rollout against numpy on the heads' weights."""
    steps, errors = mixed_by_hand(context), []
    below = np.eye(steps.shape[-1])
    for step, through in zip(steps, context.rollouts.through.numpy(), strict=True):
        below = step @ below
        errors.append(float(np.abs(below - through).max()))
    return worst(errors)


def mixed_by_hand(context: StackingContext) -> np.ndarray:
    """Return half of each layer's mean weights plus half the identity, (L, T, T), by numpy."""
    maps = attention_maps(context.source, context.plan, context.mask).double().numpy()
    identity = np.eye(maps.shape[-1])
    steps = 0.5 * maps.mean(axis=1) + 0.5 * identity
    fully_masked = maps.sum(axis=(1, 3)) == 0
    # A fully masked token stays as it is.
    steps[fully_masked] = np.broadcast_to(identity, steps.shape)[fully_masked]
    return steps
