"""Tests of the memory ceiling: when memory is short, only the oldest user continues."""

import contextvars
from contextlib import ExitStack
from mmap import mmap

import pytest

from viz.scheduler.ceiling import Ceiling, resident
from viz.scheduler.fair_queue import FairQueue, Kind, mark_arrival


class Process:
    """A process whose memory use a test sets."""

    def __init__(self) -> None:
        self.bytes = 0
        self.ceiling = Ceiling(lambda: 1_000, 300, lambda: self.bytes)
        self.turns = FairQueue(2, 7, ceiling=self.ceiling)
        self.started: list[str] = []


class User:
    """An active user with a context of their own."""

    def __init__(self, process: Process, name: str) -> None:
        self.process, self.name, self.stay = process, name, ExitStack()
        self.context = contextvars.copy_context()
        self.stay.enter_context(process.ceiling.active_user(self.context.run(mark_arrival)))

    def ask(self):
        return self.context.run(self.process.turns.enter, "pass", lambda: self.process.started.append(self.name))


@pytest.fixture
def process():
    return Process()


def test_enough_memory_admits_all(process):
    process.bytes = 700
    assert process.ceiling.has_room()
    for visitor in [User(process, name) for name in "ab"]:
        visitor.ask()
    assert process.started == ["a", "b"]
    process.bytes = 701
    assert not process.ceiling.has_room()
    assert process.ceiling.missing == 1


def test_short_memory_admits_oldest_user(process):
    first, second, third = (User(process, name) for name in "abc")
    process.bytes = 900
    third.ask()
    second.ask()
    assert process.started == [], "the first has the results computed so far, and has not asked for the next"
    ticket = first.ask()
    assert process.started == ["a"]
    process.turns.leave(ticket)
    first.ask()
    assert process.started == ["a", "a"], "whatever the first asks for"
    first.stay.close()
    assert process.started == ["a", "a", "b"], "the next one is first now"
    process.bytes = 100
    process.turns.admit_waiting()
    assert process.started == ["a", "a", "b"], "both places are taken"
    process.turns.leave(ticket := next(ticket_ for ticket_ in process.turns._working))
    assert process.started[-1] == "c" and ticket.kind == "pass"


def test_promote_moves_shared_ticket_up(process):
    """Equal requests share a job: otherwise the two users would wait for each other."""
    first, second, third = (User(process, name) for name in "abc")
    process.bytes = 900
    second.ask()
    shared = third.ask()
    assert process.turns.place(shared) == 2
    first.context.run(process.turns.promote, shared)
    assert process.started == ["c"]
    assert process.turns.waiting == 1


def test_background_work_without_users_begins(process):
    process.bytes = 900
    process.turns.enter("pass", lambda: process.started.append("nobody"))
    assert process.started == ["nobody"]


def test_no_ceiling_skips_measurement():
    def measure() -> int:
        raise AssertionError

    assert Ceiling(in_use=measure).has_room()


def test_resident_counts_mapped_memory():
    before = resident()
    if not before:
        pytest.skip("only Linux says it in /proc; elsewhere there is no ceiling")
    with mmap(-1, 50_000_000) as memory:  # of the system's own, whatever malloc has kept from other tests
        for page in range(0, len(memory), 4096):
            memory[page] = 1
        assert 40e6 < resident() - before < 100e6


def test_memory_weight_needs_more_room(process):
    process.turns = FairQueue(3, 7, {"large": Kind(memory_weight=2)}, process.ceiling)
    process.bytes = 401  # 599 are left: for one of 300, and not for one of 600
    first, large, small = (User(process, name) for name in ("first", "large", "small"))
    first.ask()
    large.context.run(process.turns.enter, "large", lambda: process.started.append("large"))
    assert process.started == ["first"]
    small.ask()
    assert process.started == ["first", "small"], "who waits for more memory lets others by"
    process.bytes = 400
    process.turns.admit_waiting()
    assert process.started == ["first", "small", "large"]


def test_small_weight_begins_beside_large(process):
    process.turns = FairQueue(3, 7, {"little": Kind(memory_weight=0.1)}, process.ceiling)
    process.bytes = 970  # 30 are left
    first, second, third = (User(process, name) for name in ("first", "second", "third"))
    first.ask()
    second.ask()
    third.context.run(process.turns.enter, "little", lambda: process.started.append("little"))
    assert process.started == ["first", "little"]


def test_long_work_reserves_room_for_running(process):
    """Two that begin in the same moment would both find the room that is there for one."""
    process.turns = FairQueue(3, 7, {"text": Kind(at_once=2)}, process.ceiling)
    first, second = User(process, "first"), User(process, "second")
    for visitor, process.bytes in ((second, 400), (first, 500)):  # 500 are left then: for one of 300, not for two
        visitor.context.run(process.turns.enter, "text", lambda name=visitor.name: process.started.append(name))
    assert process.started == ["second"], "even who came first waits for what has begun"
    process.turns.leave(*process.turns._working)
    process.bytes = 900
    process.turns.admit_waiting()
    assert process.started == ["second", "first"], "and goes on then, however little there is"
    process.bytes = 500
    third = User(process, "third")
    process.turns = FairQueue(3, 7, {"text": Kind(at_once=2)}, process.ceiling)
    process.started.clear()
    for visitor in (first, third):
        visitor.context.run(process.turns.enter, "text", lambda name=visitor.name: process.started.append(name))
    assert process.started == ["first"]


def test_long_work_reserves_room_for_oldest(process):
    """The first goes on without room: what others began before must not have filled all there is."""
    process.turns = FairQueue(3, 7, {"text": Kind(at_once=2)}, process.ceiling)
    _, second, third = (User(process, name) for name in ("first", "second", "third"))
    process.bytes = 500  # 500 are left: for one of 300, and not for the first one's next as well
    second.context.run(process.turns.enter, "text", lambda: process.started.append("second"))
    assert process.started == []
    third.ask()
    assert process.started == ["third"], "what takes little time does not wait for that"
    process.bytes = 400
    process.turns.admit_waiting()
    assert process.started == ["third", "second"]
