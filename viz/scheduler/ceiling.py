"""A memory ceiling for the process: when little is left, work that needs more waits in the queue."""

import os
import threading
from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Return the resident memory of this process in bytes; 0 where the system does not report it."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Ceiling:
    """A memory ceiling under which only the oldest active user continues when little memory is left.

    Every page run holds the results computed for it so far. If all runs continued in parallel, all of these would be in
    memory at once; so the others wait until the oldest one has finished. One computation may take ``spare`` bytes: it
    begins while at least this much is left. ``most`` and ``in_use`` return the ceiling and the bytes in use at every
    check.
    """

    def __init__(
        self, most: Callable[[], float] = lambda: float("inf"), spare: int = 0, in_use: Callable[[], int] = resident
    ) -> None:
        self.most, self.spare, self.in_use = most, spare, in_use
        self.listeners = list[Callable[[], None]]()
        """Callbacks for when a page run ends: work that waits for memory may be admitted."""
        self._under_way = list[float]()
        self._lock = threading.Lock()

    @property
    def missing(self) -> float:
        """Bytes to free before another computation can begin; 0 or less if it can begin now."""
        most = self.most()
        return self.in_use() + self.spare - most if most < float("inf") else -most

    def has_room(self, memory_weight: float = 1, missing: float | None = None) -> bool:
        """Return whether there is memory for that many computations; pass ``missing`` if it is known."""
        return (self.missing if missing is None else missing) + (memory_weight - 1) * self.spare <= 0

    def is_oldest(self, arrival: float) -> bool:
        """Return whether no active user arrived before this time."""
        with self._lock:
            return not self._under_way or arrival <= self._under_way[0]

    @property
    def first(self) -> float | None:
        """Arrival time of the oldest active user; None if there is none."""
        with self._lock:
            return self._under_way[0] if self._under_way else None

    @contextmanager
    def active_user(self, arrival: float) -> Iterator[None]:
        """Count the user who arrived then as active inside the ``with``."""
        with self._lock:
            insort(self._under_way, arrival)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.remove(arrival)
            for admit_waiting in self.listeners:
                admit_waiting()
