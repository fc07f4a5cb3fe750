"""The chosen head once more, in plain torch and in double precision: what the live checks compare with.

None of it is computed by :mod:`viz.core`, so that a mistake there (a wrong scale, a mask the wrong way round) cannot
agree with itself.
"""

import math

import torch
from torch import Tensor

from pages.step_by_step.context import StepByStepContext
from viz.core.mistakes.attention import Faults

RIGHT = Faults()
SQUARED_NORM = 2e-6
"""How far the square of a Jacobian's norm may be off; the norm of a saturated row is the root of what rounding left."""


def weights(context: StepByStepContext, faults: Faults = RIGHT) -> Tensor:
    """softmax(Q Kᵀ · scale) of the chosen head under the model's mask and the visitor's; some of it wrong, if asked."""
    trace, options = context.trace, context.options
    q, k = trace.q[context.head].double(), trace.k[context.group].double()
    scale = context.call.options.get("scale") or 1 / math.sqrt(q.shape[-1])  # a source that sets none has the paper's
    scores = (q @ k.T) * (1.0 if faults.no_scale else scale)
    if options["score_mod"] is not None:
        scores = options["score_mod"](scores)
    if options["bias"] is not None:
        scores = scores + options["bias"]
    scores = scores / faults.temperature
    if not faults.no_mask:
        scores[~allowed(context)] = -torch.inf
    return torch.softmax(scores, dim=0 if faults.wrong_axis else 1).nan_to_num(0.0)


def weights_error(context: StepByStepContext, found: Tensor, faults: Faults = RIGHT) -> float:
    """How far these weights of the chosen head are from the ones computed here."""
    return float((weights(context, faults) - found).abs().max())


def tolerance(context: StepByStepContext, faults: Faults = RIGHT) -> float:
    """How far weights may be off for rounding: what float32 loses in the largest score, the exponential passes on."""
    trace = context.trace
    terms = trace.q[context.head].abs() @ trace.k[context.group].abs().T
    scale = 1.0 if faults.no_scale else trace.scale
    return 1e-5 + 4 * torch.finfo(torch.float32).eps * float(terms.max()) * scale / faults.temperature


def allowed(context: StepByStepContext) -> Tensor:
    """Where the chosen head's queries may look: where the model lets them, and the visitor's mask."""
    n = len(context.labels)
    may_look = torch.ones(n, n, dtype=torch.bool)
    for mask in (context.of_head(context.call.options.get("allowed")), context.scene.choice.mask.allowed(n, n)):
        if mask is not None:
            may_look &= mask
    return may_look


def jacobian_norms(scores: Tensor) -> Tensor:
    """The norm of the derivative of the softmax of each row (rows, keys), as torch's own autograd finds it."""
    derivative = torch.func.vmap(torch.func.jacrev(lambda row: torch.softmax(row, dim=-1)))
    found: Tensor = derivative(scores.double().clone())
    return found.flatten(1).norm(dim=1)
