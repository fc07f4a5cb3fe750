"""Data of the picture of two texts: how every head's map changes, coarse, and one head's two maps, exact.

Rows and columns are the slots of an alignment, rows = queries. A cell whose row or column is only in one of the texts
has a code of its own: there is no weight there, and so no difference. Half a picture's bytes hold the differences of
all heads, for a small map needs no more of a cell than its colour.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from viz.components.head_grid import TOP, Packed, pack, weight_codes
from viz.components.unpack import unpack

WALL_BYTES = 1_200_000
"""Of the differences: 72 heads of 129 slots as they are; of more, the largest of every p x p block."""

NOTHING = 127
"""The code of no difference: 0 stands for -1, 254 for 1; the size of a difference is the square of what is between."""

MISSING = 255
"""The code of a cell that one of the texts does not have."""


def difference_codes(differences: Tensor) -> Tensor:
    """-1 to 1 as 0 to 254, finer the smaller; NaN as 255. A colour is as far off as its square root: 1/254."""
    codes = NOTHING + (differences.sign() * differences.abs().sqrt() * NOTHING).round()
    return codes.where(~differences.isnan(), MISSING).to(torch.uint8)


def pool_of(n_heads: int, n_slots: int) -> int:
    """The side of the blocks that fits: 1, or the smallest.

    Example:
        >>> pool_of(72, 129), pool_of(72, 512)
        (1, 4)
    """
    pool = 1
    while n_heads * (-(-n_slots // pool)) ** 2 > WALL_BYTES:
        pool += 1
    return pool


def farthest_of_blocks(differences: Tensor, pool: int) -> Tensor:
    """Of every pool x pool block the number that is farthest from 0; NaN if there is none."""
    if pool == 1:
        return differences
    most, least = (
        max_pool2d((sign * differences).nan_to_num(nan=-torch.inf), pool, ceil_mode=True) for sign in (1, -1)
    )
    extremes = torch.where(most >= least, most, -least)
    return extremes.masked_fill(most == -torch.inf, torch.nan)


def pack_differences(layers: Iterable[tuple[Tensor, Tensor]], *, n_layers: int, order: str, **header: Any) -> Packed:
    """Pack how every head's map changes, as the wall of the head grid reads it.

    Of each layer ``layers`` has the differences (H, U, U), NaN where there are none, and each head's change (H,).
    ``order`` names the heads' numbers by which they are put in order: "change", the largest first, or "alike".
    """
    codes, changes = [], []
    for differences, change in layers:
        n_heads, n_slots, _ = differences.shape
        pool = pool_of(n_layers * n_heads, n_slots)
        codes.append(difference_codes(farthest_of_blocks(differences.float(), pool)))
        changes.append(change.float())
    values = torch.stack(codes)
    sizes = {"n_layers": n_layers, "n_heads": n_heads, "n_queries": n_slots, "n_keys": n_slots}
    of_map = {"rows": values.shape[-2], "columns": values.shape[-1], "pool": pool, "what": "difference"}
    blocks = {"values": values, "measures": torch.cat(changes)}
    return pack({**header, **sizes, **of_map, "order": [order], "kind": "wall"}, blocks, pool=pool)


def pack_two(a: Tensor, b: Tensor, **header: Any) -> Packed:
    """Pack two maps (U, U) of numbers from 0 up under one scale, with the slots that a text does not have: NaN there.

    A weight has the code that the head grid has for it, so that it reads the same.
    """
    limit = max(float(torch.cat([a, b]).nan_to_num(nan=0.0).max()), 1e-30)
    if header.get("what") == "weights":
        limit = 1.0
    blocks = {name: weight_codes(values.nan_to_num(nan=0.0) / limit) for name, values in (("a", a), ("b", b))}
    missing = {name: values.isnan().all(-1).nonzero()[:, 0].tolist() for name, values in (("a", a), ("b", b))}
    return pack({**header, "limit": limit, "size": len(a), "missing": missing, "kind": "two"}, blocks)


def unpacked(packed: Packed) -> dict[str, Any]:
    """The header of what was packed, with each block in it, as the browser takes it apart."""
    header, blocks = unpack(packed.data)
    return header | blocks


def two_maps(header: dict[str, Any]) -> list[np.ndarray]:
    """The two maps of :func:`pack_two` as the browser reads them, NaN where a text has no such cell."""
    maps = []
    for name in "ab":
        values = header[name].reshape(header["size"], header["size"]) / TOP * header["limit"]
        values[header["missing"][name]] = values[:, header["missing"][name]] = np.nan
        maps.append(values)
    return maps
