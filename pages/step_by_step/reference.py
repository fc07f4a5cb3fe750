"""Reference values for the live checks: the head in plain torch and double precision.

Nothing here uses :mod:`viz.core`, so a mistake there (a wrong scale, an inverted mask) cannot agree with itself.
"""

import math

import torch
from torch import Tensor

from pages.step_by_step.context import StepByStepContext
from viz.core.analysis.checks import rounding
from viz.core.mistakes.attention import Faults
from viz.frame.checks import Check, asked_of, check

RIGHT = Faults()
SQUARED_NORM = 2e-6
"""Tolerance of a Jacobian's squared norm; squared, as the norm of a saturated row is the root of a rounding error."""


def weights(context: StepByStepContext, faults: Faults = RIGHT, *, no_key_bias: bool = False) -> Tensor:
    """softmax(Q Kᵀ · scale) of the head under the model's mask and the user's, with these faults."""
    options = context.options
    q, k = context.trace.q[context.head].double(), context.trace.k[context.group].double()
    if no_key_bias and (b_k := context.projections["K"][2]) is not None:
        k = k - b_k
    scores = (q @ k.T) * _scale(context, faults)
    if options["score_mod"] is not None:
        scores = options["score_mod"](scores)
    if options["bias"] is not None:
        scores = scores + options["bias"]
    scores = scores / faults.temperature
    mask = None if faults.no_mask else context.of_head(asked_of(context.scene)["allowed"])
    if mask is not None:
        scores[~mask] = -torch.inf
    return torch.softmax(scores, dim=0 if faults.wrong_axis else 1).nan_to_num(0.0)


def _scale(context: StepByStepContext, faults: Faults) -> float:
    """Return the source's scale, or the paper's where it sets none."""
    return 1.0 if faults.no_scale else context.scene.call.options.get("scale") or 1 / math.sqrt(context.spec.d_k)


def change_without_key_bias(context: StepByStepContext) -> float:
    """Return the largest change of a weight when b_K is left out: q·b_K is the same for all keys of a row."""
    return float((weights(context, no_key_bias=True) - weights(context)).abs().max())


def weights_check(context: StepByStepContext) -> Check:
    """Compare the head's weights on the page with the reference."""
    candidate = context.trace.weights[context.head]
    return check("step_by_step.check_weights", weights_error(context, candidate), tolerance(context))


def weights_error(context: StepByStepContext, candidate: Tensor, faults: Faults = RIGHT) -> float:
    """Return the largest difference between these weights of the head and the reference."""
    return float((weights(context, faults) - candidate).abs().max())


def tolerance(context: StepByStepContext, faults: Faults = RIGHT) -> float:
    """Return the tolerance of weights for rounding."""
    q, k = context.trace.q[context.head], context.trace.k[context.group]
    return rounding(q[None], k[None], _scale(context, faults) / faults.temperature)


def entropy_of(row: Tensor) -> float:
    """Entropy in nats, summed weight by weight."""
    return -sum(weight * math.log(weight) for weight in row.tolist() if weight > 0)


def jacobian_norms(scores: Tensor) -> Tensor:
    """Norm of the derivative of each row's softmax (rows, keys), by torch's autograd.

    Key by key, for all rows at once, since no row depends on another; ``torch.func`` would import torch's compiler.
    """
    x = scores.detach().double().requires_grad_()
    weights, squares = torch.softmax(x, dim=-1), torch.zeros(len(x), dtype=torch.float64)
    for key in weights.unbind(-1):
        squares += torch.autograd.grad(key.sum(), x, retain_graph=True)[0].square().sum(1)
    return squares.sqrt()
