"""Data of the page's views: pooled maps as logarithms, a window exactly, and the words around a place."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float, UInt16
from torch import Tensor

from viz.components.head_grid import pack
from viz.core.long.streamed import LongMap
from viz.models.spelling.visible import SPACE, visible
from viz.models.tokens import Tokens

LOWEST = 1e-6
"""The smallest weight distinguished from 0 in a pooled map."""

TOP = 65_535
AROUND = 4
"""Tokens shown on either side of one."""


def log_codes(weights: Float[Tensor, "*shape"]) -> UInt16[Tensor, "*shape"]:
    """0 to 1 as 0 to 65,535 by their logarithm: at most 0.011 % off from ``LOWEST`` on, and 0 below."""
    # In float32 it is less than 0.01 of a code off, and five times as fast.
    bits = weights.float().clamp(min=LOWEST).log2_()
    codes = bits.mul_((TOP - 1) / -math.log2(LOWEST)).add_(TOP).round_().clamp_(1, TOP)
    return codes.where(weights >= LOWEST * (1 - 1e-6), 0.0).int().to(torch.uint16)


def around(tokens: Tokens, at: int) -> tuple[str, str]:
    """The text before a token and after it."""
    (start, end), text = tokens.spans[at], tokens.text
    first, last = tokens.spans[max(0, at - AROUND)][0], tokens.spans[min(len(tokens.ids) - 1, at + AROUND)][1]
    return _escape(text[first:start]).strip(), _escape(text[end:last])


def _escape(text: str) -> str:
    """A part of the text with spaces as spaces, and everything else that would be invisible written out."""
    return visible(text).replace(SPACE, " ")


def pack_map(
    long_map: LongMap,
    cut: Float[Tensor, "R C"],
    *,
    pooled: str,
    labels: Sequence[str],
    zoom: tuple[int, int],
    row: int,
    **header: Any,
) -> bytes:
    """Pack for ``client/long/long_map.js``."""
    values = long_map.most if pooled == "most" else long_map.mean
    sizes: Mapping[str, Any] = {
        "n": len(labels),
        "side": long_map.side,
        "count": len(values),
        "pooled": pooled,
        "lowest": LOWEST,
        "firsts": list(labels[:: long_map.side]),
        "zoom": [*zoom, *cut.shape],
        "rows": list(labels[zoom[0] : zoom[0] + cut.shape[0]]),
        "columns": list(labels[zoom[1] : zoom[1] + cut.shape[1]]),
        "row": row,
    }
    return pack({**sizes, **header}, {"values": log_codes(values), "cut": cut.float()}).data


def pack_wall(cells: Float[Tensor, "L H C C"], about: list[list[float | int]], **header: Any) -> bytes:
    """Pack a small map of every head, and which shape it has, for ``client/long/long_wall.js``."""
    L, H, count, _ = cells.shape
    sizes = {"layers": L, "heads": H, "count": count, "lowest": LOWEST, "about": about}
    return pack({**sizes, **header}, {"values": log_codes(cells)}).data
