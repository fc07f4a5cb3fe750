"""Live checks of masks and masked weights: the rule evaluated cell by cell, and torch's own attention."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from pages.masks.context import MasksContext
from viz.core.analysis.checks import sdpa_weights
from viz.frame.checks import Check, check
from viz.frame.compute.mask_rule import mask_by_rule
from viz.frame.specs import Mask


def visible_by_rule(context: MasksContext, mask: Mask) -> Tensor:
    """Return True where a mask and the model's own both let a query attend, (n, n), without the core."""
    rule = mask_by_rule(mask, context.n, context.n)
    return context.model_allowed if rule is None else rule & context.model_allowed


def mask_check(context: MasksContext, visible_by_mask: Mapping[Mask, Tensor]) -> Check:
    """Check the cells of these masks against their rules."""
    wrong = sum(int((visible != visible_by_rule(context, mask)).sum()) for mask, visible in visible_by_mask.items())
    return check("masks.check_mask", wrong, 0.0)


def current_mask_check(context: MasksContext) -> Check:
    """Check the cells of the selected mask."""
    return mask_check(context, {context.mask: context.visible})


def weights_by_torch(context: MasksContext, mask: Mask) -> Tensor:
    """Return the head's weights under a mask from torch's own attention on q and k, (n, n)."""
    return weights_of_cells(context, visible_by_rule(context, mask))


def weights_of_cells(context: MasksContext, allowed: Tensor) -> Tensor:
    """Return the head's weights on these cells, (n, n), from torch's own attention."""
    head, group = context.head, context.head * len(context.k) // len(context.q)
    options: dict[str, Any] = {
        name: value[head] if isinstance(value, Tensor) and value.ndim > 2 else value
        for name, value in context.options.items()
    }
    q, k = context.q[head][None], context.k[group][None]
    return sdpa_weights(q, k, **options, allowed=allowed)[0]


def causal_by_torch(n: int) -> Tensor:
    """Return the causal mask, (n, n), without the core."""
    return torch.ones(n, n, dtype=torch.bool).tril()
