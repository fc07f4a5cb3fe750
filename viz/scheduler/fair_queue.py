"""A fair queue with a fixed number of workers, independent of pages and of the work itself."""

import math
import threading
import time
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from types import MappingProxyType

from viz.background import contained
from viz.errors import ModelError
from viz.scheduler.ceiling import Ceiling

RECENT = 3.0
"""Seconds after a quick request during which its user counts as interactive."""

_arrival: ContextVar[float] = ContextVar("arrival")
thread_arrival: Callable[[], float] = partial(_arrival.get, math.inf)
"""Return the arrival time of the user for whom this thread requests or computes; infinity for background work."""


def mark_arrival(at: float | None = None) -> float:
    """Set the arrival time of the user for whom this thread works, now by default: the priority of its requests.

    It is infinity where no user waits, -infinity for what is over in no time.
    """
    arrival = time.monotonic() if at is None else at
    _arrival.set(arrival)
    return arrival


@dataclass(eq=False)
class Ticket:
    """A request in the queue; ``begin`` is called once, when it is admitted."""

    kind: str
    begin: Callable[[], None]
    arrival: float = field(default_factory=lambda: _arrival.get(time.monotonic()))
    position: float = field(init=False)
    """Sort key in the queue: the user's arrival or, for some kinds of work, the time of this request."""

    def __post_init__(self) -> None:
        self.position = self.arrival

    def start(self) -> None:
        """Call ``begin`` and release it: it may hold this ticket, and with it a finished result."""
        begin = self.release_begin()
        begin()

    def release_begin(self) -> Callable[[], None]:
        """Drop the ticket's reference to its callback and return the callback."""
        begin, self.begin = self.begin, lambda: None
        return begin


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Limits of a kind of work; a kind without limits is quick and takes the memory of one computation."""

    at_once: int | None = None
    """Most workers for this kind, for work that takes long; tickets beyond that let others pass."""
    max_while_interactive: int | None = None
    """Most workers while users make quick requests; None: ``at_once``."""
    requeue_parts: bool = False
    """Queue each of its parts by that part's own request time."""
    memory_weight: float = 1
    """Memory, in computations; a kind with a small weight continues when memory is short."""


class FairQueue:
    """A first-come (:func:`mark_arrival`), first-served queue with limits by kind of work.

    Args:
        places: the number of workers.
        line: the most tickets that may wait.
        kinds: limits of some kinds of work, by name.
        ceiling: of memory. When little is left, only the oldest active user is admitted, and to long work only after
            the other long work has ended.
        quick: workers that long work leaves free for quick work.
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
        self._kinds = defaultdict(Kind, kinds)
        self._last_quick = -math.inf
        self.is_closed = False
        self._waiting, self._working = list[Ticket](), set[Ticket]()
        self._lock = threading.Lock()
        self.ceiling.listeners.append(self.admit_waiting)

    def enter(self, kind: str, begin: Callable[[], None]) -> Ticket:
        """Queue a request; ``begin`` may be called before this returns.

        Raises:
            ModelError: "crowded" if the queue is full; "closing" if the server is stopping.
        """
        if self.is_closed:
            raise ModelError("closing")
        ticket = Ticket(kind, begin)
        if not self.is_long(kind) and ticket.arrival > -math.inf:
            self._last_quick = time.monotonic()
        if self._kinds[kind].requeue_parts:
            ticket.position = max(ticket.arrival, time.monotonic())
        with self._lock:
            insort(self._waiting, ticket, key=attrgetter("position"))
        self.admit_waiting()
        with self._lock:
            if ticket in self._waiting and len(self._waiting) > self.line:
                self._waiting.remove(ticket)
                raise ModelError("crowded", n=self.line)
        return ticket

    def is_long(self, kind: str) -> bool:
        """Return whether only some of the workers may do this kind of work."""
        return self._kinds[kind].at_once is not None

    def promote(self, ticket: Ticket) -> None:
        """Move a ticket up to the arrival of this thread's user, who waits for it too, if that is earlier."""
        with self._lock:
            if ticket in self._waiting and (arrival := _arrival.get(ticket.arrival)) < ticket.arrival:
                ticket.arrival = arrival
                if not self._kinds[ticket.kind].requeue_parts:
                    self._waiting.remove(ticket)
                    ticket.position = arrival
                    insort(self._waiting, ticket, key=attrgetter("position"))
        self.admit_waiting()

    def drop(self, ticket: Ticket) -> bool:
        """Remove a waiting ticket; return False if it is being worked on."""
        with self._lock:
            if ticket in self._working:
                return False
            if ticket in self._waiting:
                self._waiting.remove(ticket)
        ticket.release_begin()
        return True

    def leave(self, ticket: Ticket) -> None:
        """End a turn and admit the next tickets; a turn may have ended already, if it could not begin."""
        with self._lock:
            self._working.discard(ticket)
        self.admit_waiting()

    def admit_waiting(self) -> None:
        """Admit the tickets for which there are workers and memory now; one that cannot begin gives its place back.

        An error is contained: it would hit a user who only ends a turn. Maintenance admits those who wait then.
        """
        while self._waiting and (failed := [ticket for ticket in self._next() if not self._begin(ticket)]):
            with self._lock:
                self._working.difference_update(failed)

    def _next(self) -> list[Ticket]:
        with contained("queue"), self._lock:
            return self._admit()
        return []

    def _begin(self, ticket: Ticket) -> bool:
        with contained("queue"):
            ticket.start()
            return True
        return False

    @contextmanager
    def turn(self, kind: str, wait: "Wait") -> Iterator[None]:
        """Run the body of the ``with`` as one turn, in this thread; the ticket is dropped if ``wait`` raises."""
        turn_event = threading.Event()
        ticket = self.enter(kind, turn_event.set)
        try:
            wait(turn_event, ticket, self)
            yield
        finally:
            if not self.drop(ticket):
                self.leave(ticket)

    def place(self, ticket: Ticket) -> int:
        """Return a ticket's rank in the queue, 1 for the next; 0 once it is admitted."""
        with self._lock:
            return self._waiting.index(ticket) + 1 if ticket in self._waiting else 0

    @property
    def waiting(self) -> int:
        """The number of tickets in the queue."""
        return len(self._waiting)

    @property
    def working(self) -> int:
        """The number of tickets being worked on."""
        return len(self._working)

    def _admit(self) -> list[Ticket]:
        """Admit tickets in queue order as far as workers and memory allow, and return them. The lock is held.

        Nothing changes before all is decided. A ticket at which an error is raised is passed over.
        """
        busy, admitted = Counter(ticket.kind for ticket in self._working), list[Ticket]()
        # The missing memory is measured once for the whole queue.
        missing: float | None = None
        for ticket in self._waiting:
            if len(self._working) + len(admitted) >= self.places:
                break
            with contained("queue"):
                if not self._has_place(ticket.kind, busy):
                    continue
                missing = self.ceiling.missing if missing is None else missing
                if self._may_begin(ticket, busy, missing):
                    busy[ticket.kind] += 1
                    admitted.append(ticket)
        self._working.update(admitted)
        self._waiting = [ticket for ticket in self._waiting if ticket not in self._working]
        return admitted

    def _has_place(self, name: str, busy: Mapping[str, int]) -> bool:
        kind = self._kinds[name]
        if kind.at_once is None:
            return True
        most = kind.at_once
        if kind.max_while_interactive is not None and time.monotonic() < self._last_quick + RECENT:
            most = kind.max_while_interactive
        return busy.get(name, 0) < most and self._long(busy) < self.places - self.quick

    def _may_begin(self, ticket: Ticket, busy: Mapping[str, int], missing: float) -> bool:
        """Return whether there is memory for a ticket and for the long work that is still growing.

        Long work also leaves room for the next request of the oldest user, who is admitted without a check.
        """
        is_long, is_oldest = self.is_long(ticket.kind), self.ceiling.is_oldest(ticket.arrival)
        beside = self._long(busy) if is_long else 0
        memory_weight = self._kinds[ticket.kind].memory_weight + beside + (is_long and not is_oldest)
        return self.ceiling.has_room(memory_weight, missing) or (is_oldest and not beside)

    def _long(self, busy: Mapping[str, int]) -> int:
        return sum(n for kind, n in busy.items() if self.is_long(kind))


Wait = Callable[[threading.Event, Ticket, FairQueue], None]
"""Wait for an event that is set when a ticket is admitted or done; it may show the ticket's rank meanwhile."""


def wait_silently(event: threading.Event, _ticket: Ticket, _turns: FairQueue) -> None:
    """Wait without showing anything."""
    event.wait()
