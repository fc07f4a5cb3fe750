"""The rule of a mask, written out once more for the live checks: read off the core, it would share its mistakes."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.frame.specs import Mask


def mask_by_rule(mask: Mask, n_queries: int, n_keys: int) -> Tensor | None:
    """True where a mask's rule lets a query look, cell by cell; None where it adds nothing. Nothing here is the core's.

    The last query stands beside the last key.
    """
    query, key = np.arange(n_queries)[:, None] + n_keys - n_queries, np.arange(n_keys)[None]
    every, apart = np.ones((n_queries, 1), dtype=bool), np.abs(query - key)
    real = key >= min(mask.pad, n_keys) if mask.pad_left else key < n_keys - mask.pad
    rules: dict[str, Any] = {
        "causal": query >= key,
        "padding": every & real,
        "both": real & (query >= key),
        "window": apart <= mask.width,
        "dilated": (apart <= mask.width * mask.gap) & (apart % mask.gap == 0),
        "blocks": key - key % max(1, mask.width) <= query,
        "prefix": (key < mask.width) | (query >= key),
    }
    if mask.kind == "painted" and mask.painted:
        rules["painted"] = _decode_painted(mask.painted, n_queries, n_keys)
    return torch.from_numpy(rules[mask.kind]) if mask.kind in rules else None


def _decode_painted(code: str, n_queries: int, n_keys: int) -> np.ndarray:
    """A painted square over the first cells, read as bits; what lies beyond it is open."""
    side, _, bits = code.partition(".")
    n, raw = int(side), base64.urlsafe_b64decode(bits + "=" * (-len(bits) % 4))
    cells = np.unpackbits(np.frombuffer(raw, np.uint8))[: n * n].reshape(n, n).astype(bool)
    is_open = np.ones((n_queries, n_keys), dtype=bool)
    is_open[:n, :n] = cells[:n_queries, :n_keys]
    return is_open


def with_mask(options: Mapping[str, Any], mask: Tensor | None) -> dict[str, Any]:
    """A layer's own options, with a further mask beside its own."""
    mask_of_layer = options.get("allowed")
    if mask is not None:
        mask_of_layer = mask if mask_of_layer is None else mask_of_layer & mask
    return {**options, "allowed": mask_of_layer}
