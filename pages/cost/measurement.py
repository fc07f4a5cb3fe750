"""A measurement that runs beside the page: started, watched and stopped from it, one at a time on this machine."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Literal

from viz.background import start_thread
from viz.core.cost.timed_layers import CANDIDATES, Plan
from viz.core.cost.timing import Point, measure
from viz.errors import ModelError

State = Literal["idle", "full", "waiting", "running", "done", "late", "stopped", "failed"]
Turn = Callable[[], AbstractContextManager[None]]


class Measurement:
    """The points of one plan, and what is happening to them; users with the same plan share it.

    Args:
        plan: what is measured.
        gate: held while measuring, so that no two measurements disturb each other.
        places: taken while waiting or measuring; without a free one nothing starts.
        turn: taken for each point, so that users who only look come in between.
    """

    def __init__(self, plan: Plan, gate: threading.Semaphore, places: threading.Semaphore, turn: Turn) -> None:
        self.plan, self.points = plan, list[Point]()
        self.state: State = "idle"
        self.load: float | None = None
        self._gate, self._places, self._turn = gate, places, turn
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._began = 0.0

    @property
    def active(self) -> bool:
        """It waits or runs."""
        return self.state in ("waiting", "running")

    @property
    def wanted(self) -> int:
        """The number of points if time allows."""
        return sum(not self.plan.too_large(name, n) for name in CANDIDATES for n in self.plan.lengths)

    @property
    def progress(self) -> float:
        """From 0 to 1: by the points or by the time, whichever is further."""
        if self.state != "running":
            return 0.0
        return min(1.0, max(len(self.points) / self.wanted, (time.monotonic() - self._began) / self.plan.seconds))

    def start(self) -> None:
        """Measure, from the beginning; nothing happens if it is under way."""
        with self._lock:
            if self.active:
                return
            if not self._places.acquire(blocking=False):
                self.state = "full"
                return
            self.points, self.state = [], "waiting"
            self._stop.clear()
        if not start_thread("measurement", self._run):
            self._places.release()
            self.state = "failed"

    def stop(self) -> None:
        """End it after the forward pass under way; what was measured stays."""
        self._stop.set()

    def _next(self, points: Iterator[Point]) -> Point | None:
        with self._turn():
            return next(points, None)

    def _run(self) -> None:
        outcome: State = "failed"
        try:
            while not self._gate.acquire(timeout=0.1):
                if self._stop.is_set():
                    outcome = "stopped"
                    return
            try:
                self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
                self._began, self.state = time.monotonic(), "running"
                points = measure(self.plan, stop=self._stop.is_set)
                while point := self._next(points):
                    self.points.append(point)
            finally:
                self._gate.release()
            outcome = "stopped" if self._stop.is_set() else "done" if len(self.points) == self.wanted else "late"
        except (RuntimeError, MemoryError):  # torch could not get the memory
            outcome = "failed"
        except ModelError:  # too many wait for a turn
            outcome = "full"
        finally:
            self._places.release()
            self.state = outcome
