"""Who computes when: a fair line before a few places. Nothing here knows of pages or of what is computed."""

import math
import threading
import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType

from viz.errors import ModelError
from viz.scheduler.ceiling import Ceiling

RECENT = 3.0
"""Seconds for which somebody who asked for what does not take long is taken to be there."""

_came: ContextVar[float] = ContextVar("came")


def come() -> float:
    """A visitor comes, now: whatever this thread asks for from now on, one thing after the other, stands here."""
    now = time.monotonic()
    _came.set(now)
    return now


def came() -> float:
    """When the visitor of this thread came; infinity: it is for nobody who waits."""
    return _came.get(math.inf)


def come_last() -> None:
    """What this thread asks for from now on is for nobody who waits: all who come stand before it."""
    _came.set(math.inf)


def _nothing() -> None: ...


@dataclass(eq=False)
class Ticket:
    """A place in the line, and then a turn; ``begin`` is called once, when the turn comes."""

    kind: str
    begin: Callable[[], None]
    came: float = field(default_factory=lambda: _came.get(time.monotonic()))
    stands: float = field(init=False)
    """Where in the line: by when the visitor came, or, of some kinds of work, by when each part is asked for."""

    def __post_init__(self) -> None:
        self.stands = self.came

    def call(self) -> None:
        """The turn comes. What it begins is let go of: it may hold this ticket, and with it a result that is done."""
        begin = self.let_go()
        begin()

    def let_go(self) -> Callable[[], None]:
        """Whoever holds this ticket no longer holds what it would begin."""
        begin, self.begin = self.begin, _nothing
        return begin


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is special about a kind of work; one that is not named is done at once, and takes what any takes."""

    at_once: int | None = None
    """How many places it may have, since it takes long; who waits for such a place lets others by."""
    beside_quick: int | None = None
    """How many while visitors look at what does not take long; None: as many as else."""
    anew: bool = False
    """It has many parts, of which each stands in the line by itself."""
    as_large: float = 1
    """How many computations one takes the memory of; little goes on where there is no room for more."""

    @property
    def is_long(self) -> bool:
        """Whether it may have some of the places only."""
        return self.at_once is not None


_USUAL = Kind()


class Turns:
    """First come (:func:`come`), first served; no more than ``places`` at once, and of some kinds fewer.

    Args:
        places: how many may be at work at once.
        line: how many may wait.
        kinds: what is special about some kinds of work, by name.
        ceiling: of memory. Where there is little left, only who came before everybody else under way is let in, and for
            what takes long not before others that take long have ended.
        quick: how many of the places what takes long leaves free, all together, for what does not.
    """

    def __init__(
        self,
        places: int,
        line: int,
        kinds: Mapping[str, Kind] = MappingProxyType({}),
        ceiling: Ceiling | None = None,
        quick: int = 0,
    ) -> None:
        self.places, self.line, self.ceiling, self.quick = places, line, ceiling or Ceiling(), quick
        self._kinds = kinds
        self._last_quick = -math.inf
        self.closed = False
        self._waiting, self._working = list[Ticket](), set[Ticket]()
        self._lock = threading.Lock()
        self.ceiling.lines.append(self.look_again)

    def enter(self, kind: str, begin: Callable[[], None]) -> Ticket:
        """Stand in the line; ``begin`` may be called before this returns.

        Raises:
            ModelError: "crowded", if too many wait already; "closing", if the server is about to end.
        """
        if self.closed:
            raise ModelError("closing")
        ticket = Ticket(kind, begin)
        if not self.is_long(kind):
            self._last_quick = time.monotonic()
        if self._kind(kind).anew:
            ticket.stands = max(ticket.came, time.monotonic())
        with self._lock:
            insort(self._waiting, ticket, key=attrgetter("stands"))
            called = self._call()
            if ticket in self._waiting and len(self._waiting) > self.line:
                self._waiting.remove(ticket)
                raise ModelError("crowded", n=self.line)
        for one in called:
            one.call()
        return ticket

    def is_long(self, kind: str) -> bool:
        """Whether this kind of work may have some of the places only, since it takes long."""
        return self._kind(kind).is_long

    def hasten(self, ticket: Ticket) -> None:
        """Whoever runs here waits for this too, and may have come before: then that is its place in the line."""
        with self._lock:
            if ticket in self._waiting and (came := _came.get(ticket.came)) < ticket.came:
                ticket.came = came
                if not self._kind(ticket.kind).anew:
                    self._waiting.remove(ticket)
                    ticket.stands = came
                    insort(self._waiting, ticket, key=attrgetter("stands"))
        self.look_again()

    def drop(self, ticket: Ticket) -> bool:
        """Leave the line; False if the turn had come already."""
        with self._lock:
            if ticket not in self._waiting:
                return False
            self._waiting.remove(ticket)
        ticket.let_go()
        return True

    def leave(self, ticket: Ticket) -> None:
        """End a turn: the next ones are let in."""
        with self._lock:
            self._working.remove(ticket)
        self.look_again()

    def look_again(self) -> None:
        """Let in everyone there is a place for by now, and memory."""
        with self._lock:
            called = self._call()
        for one in called:
            one.call()

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
        missing: float | None = None  # the system is asked once for all of the line
        for ticket in self._waiting:
            if len(self._working) == self.places:
                break
            if not self._has_place(ticket.kind, busy):
                continue
            missing = self.ceiling.missing if missing is None else missing
            if self._may_begin(ticket, busy, missing):
                busy[ticket.kind] += 1
                self._working.add(ticket)
                called.append(ticket)
        self._waiting = [ticket for ticket in self._waiting if ticket not in self._working]
        return called

    def _kind(self, name: str) -> Kind:
        return self._kinds.get(name, _USUAL)

    def _has_place(self, name: str, busy: Mapping[str, int]) -> bool:
        kind = self._kind(name)
        if kind.at_once is None:
            return True
        most = kind.at_once
        if kind.beside_quick is not None and time.monotonic() < self._last_quick + RECENT:
            most = kind.beside_quick
        return busy.get(name, 0) < most and self._long(busy) < self.places - self.quick

    def _may_begin(self, ticket: Ticket, busy: Mapping[str, int], missing: float) -> bool:
        """Whether there is memory for it, and for what others that take long, and have begun, have not taken yet.

        What takes long leaves room, too, for what the visitor who came first asks for next: that one goes on without.
        """
        is_long, is_first = self.is_long(ticket.kind), self.ceiling.is_first(ticket.came)
        beside = self._long(busy) if is_long else 0
        as_large = self._kind(ticket.kind).as_large + beside + (is_long and not is_first)
        return self.ceiling.has_room(as_large, missing) or (is_first and not beside)

    def _long(self, busy: Mapping[str, int]) -> int:
        return sum(n for kind, n in busy.items() if self.is_long(kind))


Wait = Callable[[threading.Event, Ticket, Turns], None]
"""Waits for an event that comes when, or after, a ticket's turn has come; says meanwhile what it likes."""


def quietly(event: threading.Event, _ticket: Ticket, _turns: Turns) -> None:
    """Wait, and say nothing."""
    event.wait()
