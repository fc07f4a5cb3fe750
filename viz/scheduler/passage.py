"""A ticket that passes through the queues as a user's run does: proof that a new user would be answered."""

import math
import threading
from contextlib import suppress

from viz.background import start_thread
from viz.errors import ModelError
from viz.scheduler.fair_queue import FairQueue, Ticket, mark_arrival
from viz.scheduler.stores import Stores

PATIENCE = 10.0
"""Seconds for a turn; it is the next one in the queue."""


def _wait(turn: threading.Event, _ticket: Ticket, _turns: FairQueue) -> None:
    if not turn.wait(PATIENCE):
        raise ModelError("busy", seconds=PATIENCE)


class Passage:
    """A check, in a thread of its own, that threads can be started and that the queues admit tickets."""

    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self._is_stuck = False
        self._thread: threading.Thread | None = None

    def obstacles(self) -> list[str]:
        """Begin a check unless one is under way, and return what stands in a new user's way, by the last one."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = start_thread("passage", self._pass)
        return ["threads"] * (self._thread is None) + ["turns"] * self._is_stuck

    def _pass(self) -> None:
        is_through = False
        mark_arrival(-math.inf)
        try:
            with suppress(ModelError):
                for queue, kind in ((self.stores.pages, "page"), (self.stores.turns, "sentence")):
                    with queue.turn(kind, _wait):
                        pass
                is_through = True
        finally:
            self._is_stuck = not is_through
