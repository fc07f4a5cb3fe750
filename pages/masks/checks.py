"""What must be true of a mask and of weights under it: the rule written out cell by cell, torch's own attention."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from pages.masks.context import MasksContext
from viz.core.analysis.checks import torchs_weights
from viz.frame.checks import Check, check
from viz.frame.compute.mask_rule import written_out
from viz.frame.specs import Mask


def by_its_rule(context: MasksContext, mask: Mask) -> Tensor:
    """Where a mask and the model's own together let a query look, (n, n), without the core."""
    rule = written_out(mask, context.n, context.n)
    return context.model_allowed if rule is None else rule & context.model_allowed


def mask_check(context: MasksContext, shown: Mapping[Mask, Tensor]) -> Check:
    """How many cells of the masks shown are not as their rules say."""
    wrong = sum(int((allowed != by_its_rule(context, mask)).sum()) for mask, allowed in shown.items())
    return check("masks.check_mask", wrong, 0.0)


def chosen_mask_check(context: MasksContext) -> Check:
    """The same of the one mask that is chosen."""
    return mask_check(context, {context.mask: context.allowed})


def weights_by_torch(context: MasksContext, mask: Mask) -> Tensor:
    """The chosen head's weights under a mask as torch's own attention has them, from q and k on, (n, n)."""
    head, group = context.head, context.head * len(context.k) // len(context.q)
    options: dict[str, Any] = {
        name: value[head] if isinstance(value, Tensor) and value.ndim > 2 else value
        for name, value in context.options.items()
    }
    q, k = context.q[head][None], context.k[group][None]
    return torchs_weights(q, k, **options, allowed=by_its_rule(context, mask))[0]


def no_later_key(n: int) -> Tensor:
    """Every token may look at itself and those before it, (n, n)."""
    return torch.ones(n, n, dtype=torch.bool).tril()
