"""Unpack the bytes of :func:`viz.components.head_grid.pack`, and pack them again."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from viz.components.head_grid import pack


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header of packed bytes, and each block of numbers by its name."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    at, blocks = 4 + length, {}
    for name, kind, count in header.pop("blocks"):
        block = np.frombuffer(data, dtype=np.dtype(kind).newbyteorder("<"), count=count, offset=at)
        blocks[name] = block.astype(kind)
        at += -(-block.nbytes // 4) * 4
    header.pop("id", None)
    return header, blocks


def repack(header: Mapping[str, Any], blocks: Mapping[str, Any]) -> bytes:
    """Return bytes for the browser again."""
    return pack(header, {name: torch.from_numpy(block) for name, block in blocks.items()}).data
