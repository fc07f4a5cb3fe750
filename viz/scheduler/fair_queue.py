"""Who computes when: a fair line before a few places. Nothing here knows of pages or of what is computed."""

import threading
import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import attrgetter

from viz.errors import ModelError

_came: ContextVar[float] = ContextVar("came")


def come() -> None:
    """A visitor comes: whatever this thread asks for from now on, one thing after the other, stands here."""
    _came.set(time.monotonic())


@dataclass(eq=False)
class Ticket:
    """A place in the line, and then a turn; ``begin`` is called once, when the turn comes."""

    kind: str
    begin: Callable[[], None]
    came: float = field(default_factory=lambda: _came.get(time.monotonic()))


class Turns:
    """First come (:func:`come`), first served; no more than ``places`` at once, and of some kinds fewer.

    Args:
        places: how many may be at work at once.
        line: how many may wait.
        at_once: for some kinds of work, how many of the places it may have. Who waits for such a place lets others by.
    """

    def __init__(self, places: int, line: int, at_once: Mapping[str, int]) -> None:
        self.places, self.line = places, line
        self.closed = False
        self._at_once = at_once
        self._waiting, self._working = list[Ticket](), set[Ticket]()
        self._lock = threading.Lock()

    def enter(self, kind: str, begin: Callable[[], None]) -> Ticket:
        """Stand in the line; ``begin`` may be called before this returns.

        Raises:
            ModelError: "crowded", if too many wait already; "closing", if the server is about to end.
        """
        if self.closed:
            raise ModelError("closing")
        ticket = Ticket(kind, begin)
        with self._lock:
            insort(self._waiting, ticket, key=attrgetter("came"))
            called = self._call()
            if ticket in self._waiting and len(self._waiting) > self.line:
                self._waiting.remove(ticket)
                raise ModelError("crowded", n=self.line)
        for one in called:
            one.begin()
        return ticket

    def drop(self, ticket: Ticket) -> bool:
        """Leave the line; False if the turn had come already."""
        with self._lock:
            if ticket not in self._waiting:
                return False
            self._waiting.remove(ticket)
            return True

    def leave(self, ticket: Ticket) -> None:
        """End a turn: the next ones are let in."""
        with self._lock:
            self._working.remove(ticket)
            called = self._call()
        for one in called:
            one.begin()

    @contextmanager
    def turn(self, kind: str, wait: "Wait") -> Iterator[None]:
        """Have a turn for what is done inside the ``with``, in this thread.

        Args:
            kind: of work.
            wait: returns when the turn has come; if it raises, the place in the line is given up.
        """
        come = threading.Event()
        ticket = self.enter(kind, come.set)
        try:
            wait(come, ticket, self)
            yield
        finally:
            if not self.drop(ticket):
                self.leave(ticket)

    def place(self, ticket: Ticket) -> int:
        """1 for the next to be called, 2 for the one after; 0 when the turn has come."""
        with self._lock:
            return self._waiting.index(ticket) + 1 if ticket in self._waiting else 0

    @property
    def waiting(self) -> int:
        """How many stand in the line."""
        return len(self._waiting)

    @property
    def working(self) -> int:
        """How many are at work."""
        return len(self._working)

    def _call(self) -> list[Ticket]:
        """Let in, in the order of the line, everyone there is a place for."""
        busy, called = Counter(ticket.kind for ticket in self._working), []
        for ticket in self._waiting:
            if len(self._working) == self.places:
                break
            if busy[ticket.kind] < self._at_once.get(ticket.kind, self.places):
                busy[ticket.kind] += 1
                self._working.add(ticket)
                called.append(ticket)
        self._waiting = [ticket for ticket in self._waiting if ticket not in self._working]
        return called


Wait = Callable[[threading.Event, Ticket, Turns], None]
"""Waits for an event that comes when, or after, a ticket's turn has come; says meanwhile what it likes."""


def quietly(event: threading.Event, _ticket: Ticket, _turns: Turns) -> None:
    """Wait, and say nothing."""
    event.wait()
