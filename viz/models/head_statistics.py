"""The numbers of every head of a captured layer, of one text or of two."""

from collections.abc import Mapping

import torch
from torch import Tensor

from viz.core.analysis.head_statistics import cross_head_statistics, head_statistics
from viz.models.capture import Capture


def describe(capture: Capture, weights: Tensor) -> Mapping[str, Tensor]:
    """The numbers of each head's portrait: of a map between two texts, those that make sense there."""
    queries, keys = capture.queries, capture.tokens
    ids, special = torch.tensor(keys.ids), torch.tensor(keys.special)
    if capture.is_cross:
        return vars(cross_head_statistics(weights, torch.tensor(queries.ids), ids, special))
    return vars(head_statistics(weights, ids, special))
