"""A painted mask as a link holds it: a few characters, the same for good."""

import base64
import re

import numpy as np
import torch
from torch import Tensor


def to_code(mask: Tensor) -> str:
    """Write a square mask in a few characters that a link can hold: its side, a dot, its cells as bits (base64url).

    Row by row, a byte's highest bit first, the last byte filled up with zeros. 32 x 32 cells take 174 characters.
    """
    cells = np.packbits(mask.numpy())
    return f"{len(mask)}.{base64.urlsafe_b64encode(cells.tobytes()).decode().rstrip('=')}"


def from_code(code: str) -> Tensor:
    """Read a mask that :func:`to_code` wrote, and nothing else: two codes never stand for the same mask.

    Raises:
        ValueError: if ``code`` is no side and as many cells as that asks for.
    """
    side, _, bits = code.partition(".")
    if not re.fullmatch("[1-9][0-9]{0,3}", side, re.ASCII) or not re.fullmatch("[A-Za-z0-9_-]+", bits, re.ASCII):
        raise ValueError(f"code={code[:40]!r} is not a side, a dot and base64url cells")
    n, n_bytes = int(side), len(bits) * 6 // 8
    if n_bytes != -(-n * n // 8) or len(bits) % 4 == 1:
        raise ValueError(f"code={code[:40]!r} holds {n_bytes} bytes, {n} x {n} cells take {-(-n * n // 8)}")
    packed = np.frombuffer(base64.urlsafe_b64decode(bits + "=" * (-len(bits) % 4)), np.uint8)
    mask = torch.from_numpy(np.unpackbits(packed, count=n * n)).bool().view(n, n)
    if to_code(mask) != code:
        raise ValueError(f"code={code[:40]!r} has something after its last cell")
    return mask
