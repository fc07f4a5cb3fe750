"""A ceiling for the memory of the whole process: where there is little left, what would take more waits in the line."""

import os
import threading
from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say so."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Ceiling:
    """How much memory there may be, and who goes on where there is little left: the visitor who came first.

    Whoever is under way holds what was computed for them so far. If all went on beside each other, all that would be
    held at once; so the others wait until the first one is done. Somebody always goes on.

    Args:
        most: bytes, asked whenever it matters.
        spare: bytes that what is under way may still take: a computation begins while at least this much is left.
        in_use: how many bytes there are now.
    """

    def __init__(
        self, most: Callable[[], float] = lambda: float("inf"), spare: int = 0, in_use: Callable[[], int] = resident
    ) -> None:
        self.most, self.spare, self.in_use = most, spare, in_use
        self.lines = list[Callable[[], None]]()
        """Called when a visitor is done: who waits for memory may be let in by now."""
        self._under_way = list[float]()
        self._lock = threading.Lock()

    @property
    def missing(self) -> float:
        """Bytes that would have to be given back for another computation to begin; 0 or less: none."""
        most = self.most()
        return self.in_use() + self.spare - most if most < float("inf") else -most

    def has_room(self, as_large: float = 1, missing: float | None = None) -> bool:
        """Whether anybody may begin what takes as much as so many computations; ``missing``, if that is known."""
        return (self.missing if missing is None else missing) + (as_large - 1) * self.spare <= 0

    def is_first(self, came: float) -> bool:
        """Whether nobody under way came before."""
        with self._lock:
            return not self._under_way or came <= self._under_way[0]

    @property
    def first(self) -> float | None:
        """When the first of those under way came; None: there is nobody."""
        with self._lock:
            return self._under_way[0] if self._under_way else None

    @contextmanager
    def visit(self, came: float) -> Iterator[None]:
        """A visitor who came at that time is under way inside the ``with``."""
        with self._lock:
            insort(self._under_way, came)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.remove(came)
            for look_again in self.lines:
                look_again()
