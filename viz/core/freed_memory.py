"""Reuse the memory of freed traces for the next one."""

from functools import cache

import torch

BLOCK = 31 << 20
"""Bytes: just under the 32 MB up to which glibc raises its threshold."""


@cache
def keep_freed_memory() -> None:
    """Tell the C library, once in a process, to keep large blocks that are freed.

    Keeping every step means freeing tens of MB at once, which glibc hands back to the system and faults in again on the
    next call: 2.8 times nn.MultiheadAttention's time at 512 tokens. Freeing one block just under its limit raises the
    threshold for good: 1.1 times.
    """
    torch.empty(BLOCK, dtype=torch.uint8, device="cpu")
