"""The chosen head once more, in plain torch and in double precision: what the live checks compare with.

None of it is computed by :mod:`viz.core`, so that a mistake there (a wrong scale, a mask the wrong way round) cannot
agree with itself.
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
"""How far the square of a Jacobian's norm may be off; the norm of a saturated row is the root of what rounding left."""


def weights(context: StepByStepContext, faults: Faults = RIGHT) -> Tensor:
    """softmax(Q Kᵀ · scale) of the chosen head under the model's mask and the visitor's; some of it wrong, if asked."""
    trace, options = context.trace, context.options
    q, k = trace.q[context.head].double(), trace.k[context.group].double()
    scores = (q @ k.T) * _scale(context, faults)
    if options["score_mod"] is not None:
        scores = options["score_mod"](scores)
    if options["bias"] is not None:
        scores = scores + options["bias"]
    scores = scores / faults.temperature
    if not faults.no_mask:
        scores[~allowed(context)] = -torch.inf
    return torch.softmax(scores, dim=0 if faults.wrong_axis else 1).nan_to_num(0.0)


def _scale(context: StepByStepContext, faults: Faults) -> float:
    """The source's own; one that sets none has the paper's."""
    return 1.0 if faults.no_scale else context.call.options.get("scale") or 1 / math.sqrt(context.spec.d_k)


def weights_check(context: StepByStepContext) -> Check:
    """The chosen head's weights as they are shown, against these."""
    found = context.trace.weights[context.head]
    return check("step_by_step.check_weights", weights_error(context, found), tolerance(context))


def weights_error(context: StepByStepContext, found: Tensor, faults: Faults = RIGHT) -> float:
    """How far these weights of the chosen head are from the ones computed here."""
    return float((weights(context, faults) - found).abs().max())


def tolerance(context: StepByStepContext, faults: Faults = RIGHT) -> float:
    """How far weights may be off for rounding."""
    q, k = context.trace.q[context.head], context.trace.k[context.group]
    return rounding(q[None], k[None], _scale(context, faults) / faults.temperature)


def allowed(context: StepByStepContext) -> Tensor:
    """Where the chosen head's queries may look: where the model lets them, and the visitor's mask."""
    asked, n = context.of_head(asked_of(context.scene)["allowed"]), len(context.labels)
    return torch.ones(n, n, dtype=torch.bool) if asked is None else asked


def entropy_of(row: Tensor) -> float:
    """In nats, weight by weight."""
    return -sum(weight * math.log(weight) for weight in row.tolist() if weight > 0)


def jacobian_norms(scores: Tensor) -> Tensor:
    """The norm of the derivative of the softmax of each row (rows, keys), as torch's own autograd finds it.

    Key by key, for all rows at once, since no row depends on another; ``torch.func`` would import torch's compiler.
    """
    x = scores.detach().double().requires_grad_()
    weights, squares = torch.softmax(x, dim=-1), torch.zeros(len(x), dtype=torch.float64)
    for key in weights.unbind(-1):
        squares += torch.autograd.grad(key.sum(), x, retain_graph=True)[0].square().sum(1)
    return squares.sqrt()
