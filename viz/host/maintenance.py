"""Periodic maintenance: trims memory, ends lost sessions, and evicts results when memory is short."""

import asyncio
import ctypes
import gc
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from viz.background import contained
from viz.host.uploads import Uploads
from viz.scheduler.cache import Store
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import FairQueue
from viz.streamlit_internals.hosted import end_lost_sessions

CHECK_SECONDS = 0.5
"""Seconds between two checks of the memory in use; a check takes 20 microseconds."""

TIDY_SECONDS = 20.0
"""Seconds between two trims. Freed small tensors leave gaps in the heap, which the C library keeps: with 50 users 100
MB after five minutes. A trim takes 2 to 9 ms. Lost sessions and reference cycles go then too: an idle server would
never collect them."""

MIN_TIDY_SECONDS = 4.0
"""Fewest seconds between two collections while memory is short: a collection blocks all threads."""

STALLED_SECONDS = 60.0
"""Seconds without a round after which the server is to be restarted: its memory has no ceiling any more."""


def trimmer() -> Callable[[int], Any]:
    """Return glibc's ``malloc_trim``, which returns free pages to the system; elsewhere a function without effect."""
    return getattr(ctypes.CDLL(None), "malloc_trim", abs) if sys.platform == "linux" else abs


class Maintenance:
    """Periodic maintenance: trims memory, expires sessions and uploads.

    When memory is short the ``large`` caches of long texts are evicted first, then the other results. ``queues`` are
    looked at in every round, in case an error kept them from admitting who waits.
    """

    def __init__(
        self,
        results: Store,
        ceiling: Ceiling,
        uploads: Uploads,
        large: Sequence[Store] = (),
        queues: Sequence[FairQueue] = (),
    ) -> None:
        self.large, self.queues, self.last_round = large, queues, math.inf
        self.results, self.ceiling, self.uploads = results, ceiling, uploads
        self._trim = trimmer()
        self._collected = self._tidied = time.monotonic()

    async def run(self) -> None:
        """Run the maintenance until cancelled; a step that fails is tried again when it is due, and stops no other."""
        try:
            while True:
                self.last_round = time.monotonic()
                await asyncio.sleep(min(CHECK_SECONDS, TIDY_SECONDS))
                with contained("maintenance"):
                    await self._round()
        finally:
            self.last_round = -math.inf

    @property
    def is_stalled(self) -> bool:
        """True if the maintenance has ended, or makes no rounds."""
        return time.monotonic() > self.last_round + STALLED_SECONDS

    async def _round(self) -> None:
        for queue in self.queues:
            queue.admit_waiting()
        if time.monotonic() >= self._tidied + TIDY_SECONDS:
            self._tidied = time.monotonic()
            with contained("end of lost sessions"):
                end_lost_sessions()
            with contained("deletion of uploads"):
                self.uploads.tidy()
            with contained("garbage collection"):
                await asyncio.to_thread(self.tidy)
        with contained("memory ceiling"):
            if not self.ceiling.has_room():
                await asyncio.to_thread(self.free_memory)

    def tidy(self) -> None:
        """Collect garbage and return free pages to the system."""
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
