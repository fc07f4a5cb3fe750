"""Answers to a view that has the small maps of a stack and asks for more: exact numbers, as they are opened."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import torch

from viz.components.head_grid import weight_codes
from viz.components.take_away import PooledStack, packed_head

Answer = tuple[dict[str, Any], list[bytes]]
"""The fields of a message, and the bytes behind it."""


def answer_request(stack: PooledStack, request: Mapping[str, Any]) -> Answer:
    """Answer {"head": index}, {"combine": "mean" | "max", "heads": indices} or {"pair": (query, key)}.

    Heads are counted over all layers. A head comes as it does in a whole payload, several as one map of codes, a pair
    as one weight for each head.
    """
    if "pair" in request:
        query, key = request["pair"]
        layers = (stack.open_layer(place) for place in range(stack.n_layers))
        return {"values": torch.cat([weights[:, query, key] for weights in layers]).tolist()}, []
    if "combine" in request:
        total = _combined(stack, request["combine"], request["heads"])
        return {}, [bytes(weight_codes(total).contiguous().numpy().astype("<u2"))]
    packed, low, high = packed_head(stack.open(*divmod(request["head"], stack.n_heads)))
    return {"low": low, "high": high}, [packed]


def _combined(stack: PooledStack, how: str, heads: list[int]) -> torch.Tensor:
    total = torch.zeros(len(stack.queries.of), len(stack.keys.of))
    for place, group in groupby(sorted(heads), lambda index: index // stack.n_heads):
        layer = stack.open_layer(place)
        for index in group:
            weights = layer[index % stack.n_heads]
            total = total + weights / len(heads) if how == "mean" else torch.maximum(total, weights)
    return total
