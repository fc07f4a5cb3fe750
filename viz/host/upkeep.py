"""By the clock: memory goes back to the system, lost sessions end, and what is kept gives way to visitors."""

import asyncio
import ctypes
import gc
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from viz.host.uploads import Uploads
from viz.scheduler.cache import Store
from viz.scheduler.ceiling import Ceiling
from viz.streamlit_internals.hosted import end_lost_sessions

CHECK_SECONDS = 0.5
"""Seconds between two looks at how much memory there is; a look takes 20 microseconds."""

TIDY_SECONDS = 20.0
"""Seconds. Small tensors that are forgotten leave gaps between others that stay, and the C library keeps the gaps: with
50 visitors that was 100 MB after five minutes. Handing them back takes 2 to 9 ms. Sessions and what only a collection
finds go then too: with nobody there, nothing else would ever ask for it."""

MIN_TIDY_SECONDS = 4.0
"""Seconds between two collections where memory is short: each of them holds everybody up."""


def trimmer() -> Callable[[int], Any]:
    """The C library's way to hand free pages back: glibc's ``malloc_trim``; nothing where there is no such thing."""
    return getattr(ctypes.CDLL(None), "malloc_trim", abs) if sys.platform == "linux" else abs


class Maintenance:
    """Periodic maintenance: trims memory, expires sessions and uploads.

    Args:
        results: what is kept, the first to give way.
        ceiling: of the process.
        uploads: files that go when no page shows them.
        large: what is kept of long texts: few and large, they give way before all else.
    """

    def __init__(self, results: Store, ceiling: Ceiling, uploads: Uploads, large: Sequence[Store] = ()) -> None:
        self.large = large
        self.results, self.ceiling, self.uploads = results, ceiling, uploads
        self._trim = trimmer()
        self._collected = self._tidied = time.monotonic()

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(min(CHECK_SECONDS, TIDY_SECONDS))
            now = time.monotonic()
            if now >= self._tidied + TIDY_SECONDS:
                self._tidied = now
                end_lost_sessions()
                self.uploads.tidy()
                await asyncio.to_thread(self.tidy)
            elif not self.ceiling.has_room():
                await asyncio.to_thread(self.free_memory)

    def tidy(self) -> None:
        """Collect what nobody holds and hand free pages back."""
        self._collected = time.monotonic()
        gc.collect()
        self._trim(0)

    def free_memory(self) -> None:
        """Evict results while memory is short, then admit waiting work."""
        missing, first = self.ceiling.missing, self.ceiling.first
        for store in (*self.large, self.results):
            had = store.bytes
            store.shrink(max(0.0, missing), first)
            missing -= had - store.bytes
        if time.monotonic() >= self._collected + MIN_TIDY_SECONDS:
            self.tidy()
        else:
            self._trim(0)
        self.results.turns.admit_waiting()
