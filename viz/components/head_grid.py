"""Data of the head grid in the browser: maps as bytes, small enough, and exact where it says so.

A picture goes over in three messages, so that choosing a head does not send the wall again: the *wall* (a small map of
every head), the *head* (the chosen one, with what the browser needs to recompute it at another temperature) and the
words and choices around them (JSON). Every map is rows = queries, columns = keys.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

EXACT_BYTES = 2_500_000
"""A wall up to this size is sent as it is: 72 heads at 131 tokens."""

POOLED_BYTES = 1_480_000
"""A larger one is sent as the largest weight of every p x p block, with the smallest p that fits;
with its header it stays under 1.5 MB."""

HEAD_BYTES = 600_000
"""The chosen head: 4 bytes a score where they fit (387 tokens), 2 beyond."""

TOP = 65535
MASKED = 65535
"""Code of a cell that may not be looked at, where cells are scores."""

SORTS = ("model", "entropy", "distance", "previous", "next", "same", "first", "link")
"""Orders of the heads, by their names in a link; ``client/head_grid/panel.js`` lists them."""

SHARPNESS = 0.25
"""c in :func:`log_codes`."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The tokens along one side: the row or column that each is part of (-1: hidden), and what is written there."""

    of: Sequence[int]
    labels: Sequence[str]

    def sent(self) -> dict[str, Any]:
        """Return the fields for the browser."""
        return {"of": list(self.of), "count": len(self.labels), "labels": list(self.labels)}


@dataclass(frozen=True, kw_only=True)
class Packed:
    """Bytes for the browser; ``id`` names their content, ``pool`` is 1 where the maps are whole."""

    data: bytes
    id: str
    pool: int = 1


def pack(header: Mapping[str, Any], blocks: Mapping[str, Tensor], *, pool: int = 1) -> Packed:
    """Put a JSON header before blocks of numbers; ``client/bytes.js`` takes it apart again.

    Layout: length of the header (u32), header, blocks; everything little-endian and padded to multiples of 4 bytes.
    The header lists the blocks as name, type and count.
    """
    arrays = {name: block.contiguous().numpy() for name, block in blocks.items()}
    raw = [array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays.values()]
    descriptions = [[name, array.dtype.name, array.size] for name, array in arrays.items()]
    body = b"".join(_padded(block, b"\0") for block in raw)
    ident = hashlib.blake2b(body + json.dumps(header).encode(), digest_size=8).hexdigest()
    head = _padded(json.dumps({**header, "id": ident, "blocks": descriptions}).encode(), b" ")
    return Packed(data=len(head).to_bytes(4, "little") + head + body, id=ident, pool=pool)


def _padded(raw: bytes, filler: bytes) -> bytes:
    return raw + filler * (-len(raw) % 4)


def pool_of(n_heads: int, n_queries: int, n_keys: int) -> int:
    """The side of the blocks a wall is pooled by: 1 (exact) if it fits, else the smallest that does."""
    if 2 * n_heads * n_queries * n_keys <= EXACT_BYTES:
        return 1
    pool = 2
    while 2 * n_heads * math.ceil(n_queries / pool) * math.ceil(n_keys / pool) > POOLED_BYTES:
        pool += 1
    return pool


def largest_of_blocks(maps: Tensor, pool: int) -> Tensor:
    """The largest cell of every pool x pool block; blocks at the right and lower edge may be smaller."""
    return _largest_along(_largest_along(maps, -2, pool), -1, pool) if pool > 1 else maps


def _largest_along(maps: Tensor, axis: int, pool: int) -> Tensor:
    n = maps.shape[axis] // pool
    blocks = maps.narrow(axis, 0, n * pool).unflatten(axis, (n, pool)).amax(axis)
    rest = maps.narrow(axis, n * pool, maps.shape[axis] - n * pool)
    return torch.cat([blocks, rest.amax(axis, keepdim=True)], axis) if rest.shape[axis] else blocks


def weight_codes(weights: Tensor) -> Tensor:
    """0 to 1 as 0 to 65535: at most 7.6e-6 off, so four decimals are right."""
    return (weights * TOP).round().int().clamp(0, TOP).to(torch.uint16)


def score_codes(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Scores of each map between its own lowest and highest as 0 to 65534, masked (-inf) as 65535; and those two."""
    flat = scores.flatten(1)
    low = flat.where(flat.isfinite(), torch.inf).amin(1)
    high = flat.where(flat.isfinite(), -torch.inf).amax(1)
    # Of a row without a single open cell the bounds cross.
    fully_masked = high < low
    low, high = low.masked_fill(fully_masked, 0.0), high.masked_fill(fully_masked, 0.0)
    share = (flat - low[:, None]) / (high - low).clamp(min=1e-30)[:, None]
    codes = torch.where(flat.isfinite(), (share * (MASKED - 1)).round().nan_to_num(0, 0, 0), MASKED)
    return codes.int().to(torch.uint16).view(scores.shape), torch.stack([low, high], 1).float()


def log_codes(scores: Tensor) -> tuple[Tensor, Tensor, float]:
    r"""Scores of one map in 2 bytes a cell, for a softmax at any temperature.

    .. math:: u = \ln(1 + y / c) / \ln(1 + R / c), \qquad y_{ij} = \max_m s_{im} - s_{ij} \in [0, R]

    Only y matters to a softmax, and a small y more than a large one: the error of a decoded y grows with y + c, so
    that of a weight, :math:`e^{-y} \Delta y`, stays below 2.5e-5 for R up to 100.

    Returns:
        the codes (65535: masked), each row's largest score, and R.
    """
    finite = scores.isfinite()
    top = scores.amax(-1).nan_to_num(neginf=0.0)
    y = (top[:, None] - scores).where(finite, 0.0)
    reach = max(float(y.max()), 1e-6)
    share = torch.log1p(y / SHARPNESS) / math.log1p(reach / SHARPNESS)
    codes = torch.where(finite, (share * (MASKED - 1)).round(), MASKED)
    return codes.int().to(torch.uint16), top.float(), reach


def pack_wall(
    layers: Iterable[tuple[Tensor, Mapping[str, Tensor]]], *, n_layers: int, what: str, **header: Any
) -> Packed:
    """Pack the maps of every layer, "weights" or "scores".

    Of each layer ``layers`` has its maps (H, Q, K) and its measures (name -> one number a head), by which the heads can
    be put in order. They are taken one at a time, for at 512 tokens all maps would be 75 MB.
    """
    codes, ranges, names, measures = [], [], [], []
    for maps, numbers in layers:
        H, n_queries, n_keys = maps.shape
        pool = pool_of(n_layers * H, n_queries, n_keys)
        pooled = largest_of_blocks(maps.float(), pool)
        code, low_high = (weight_codes(pooled), None) if what == "weights" else score_codes(pooled)
        codes.append(code)
        if low_high is not None:
            ranges.append(low_high)
        names = list(numbers)
        measures.append(torch.stack([values.float() for values in numbers.values()]))
    blocks = {"values": torch.stack(codes), "measures": torch.cat(measures, 1)}
    if ranges:
        blocks["ranges"] = torch.cat(ranges)
    _, _, rows, columns = blocks["values"].shape
    sizes = {"n_layers": n_layers, "n_heads": H, "n_queries": n_queries, "n_keys": n_keys, "rows": rows}
    header = {**header, **sizes, "columns": columns, "pool": pool, "what": what, "order": names}
    return pack({**header, "kind": "wall"}, blocks, pool=pool)


def pack_head(scores: Tensor, **header: Any) -> Packed:
    """Pack the masked, scaled scores (Q, K) of the chosen head, exact (float32) where that fits."""
    header = {**header, "kind": "head", "rows": scores.shape[0], "columns": scores.shape[1]}
    if scores.numel() * 4 <= HEAD_BYTES:
        return pack({**header, "codec": "float32"}, {"scores": scores.float()})
    codes, tops, reach = log_codes(scores.float())
    return pack({**header, "codec": "log", "reach": reach, "sharpness": SHARPNESS}, {"codes": codes, "tops": tops})


def pack_combined(weights: Tensor, **header: Any) -> Packed:
    """Pack one map of weights (Q, K) made of several heads, where the wall is too coarse to make it in the browser."""
    header = {**header, "kind": "head", "codec": "weights", "rows": weights.shape[0], "columns": weights.shape[1]}
    return pack(header, {"codes": weight_codes(weights)})
