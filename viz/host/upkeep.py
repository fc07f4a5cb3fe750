"""What was forgotten goes back to the system."""

import asyncio
import ctypes
import sys
from collections.abc import Callable
from typing import Any

EVERY = 20.0
"""Seconds. Small tensors that are forgotten leave gaps between others that stay, and the C library keeps the gaps: with
50 visitors that was 100 MB after five minutes. Handing them back takes 2 to 9 ms."""


def trimmer() -> Callable[[int], Any] | None:
    """The C library's way to hand free pages back: glibc's ``malloc_trim``; None where there is no such thing."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


async def give_back() -> None:
    """Hand free pages back again and again, until cancelled, where that is possible."""
    if trim := trimmer():
        while True:
            await asyncio.sleep(EVERY)
            await asyncio.to_thread(trim, 0)
