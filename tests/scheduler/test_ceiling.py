"""Where memory is short, only the visitor who came first goes on; nobody waits for ever."""

import contextvars
from contextlib import ExitStack
from mmap import mmap

import pytest

from viz.scheduler.ceiling import Ceiling, resident
from viz.scheduler.fair_queue import Kind, Turns, come


class Process:
    """What a process takes, as a test says it."""

    def __init__(self) -> None:
        self.bytes = 0
        self.ceiling = Ceiling(lambda: 1_000, 300, lambda: self.bytes)
        self.turns = Turns(2, 7, ceiling=self.ceiling)
        self.begun: list[str] = []


class Visitor:
    """Somebody under way, in a context of their own."""

    def __init__(self, process: Process, name: str) -> None:
        self.process, self.name, self.stay = process, name, ExitStack()
        self.context = contextvars.copy_context()
        self.stay.enter_context(process.ceiling.visit(self.context.run(come)))

    def ask(self):
        return self.context.run(self.process.turns.enter, "pass", lambda: self.process.begun.append(self.name))


@pytest.fixture
def process():
    return Process()


def test_as_long_as_there_is_memory_everybody_goes_on(process):
    process.bytes = 700
    assert process.ceiling.has_room()
    for visitor in [Visitor(process, name) for name in "ab"]:
        visitor.ask()
    assert process.begun == ["a", "b"]
    process.bytes = 701
    assert not process.ceiling.has_room()
    assert process.ceiling.missing == 1


def test_where_it_is_short_they_go_on_one_after_the_other(process):
    first, second, third = (Visitor(process, name) for name in "abc")
    process.bytes = 900
    third.ask()
    second.ask()
    assert process.begun == [], "the first has the results computed so far, and has not asked for the next"
    ticket = first.ask()
    assert process.begun == ["a"]
    process.turns.leave(ticket)
    first.ask()
    assert process.begun == ["a", "a"], "whatever the first asks for"
    first.stay.close()
    assert process.begun == ["a", "a", "b"], "the next one is first now"
    process.bytes = 100
    process.turns.look_again()
    assert process.begun == ["a", "a", "b"], "both places are taken"
    process.turns.leave(ticket := next(one for one in process.turns._working))
    assert process.begun[-1] == "c" and ticket.kind == "pass"


def test_who_waits_for_what_a_later_one_asked_for_lends_it_the_place(process):
    """Equal requests are one: else the first would wait for the second, and the second for the first."""
    first, second, third = (Visitor(process, name) for name in "abc")
    process.bytes = 900
    second.ask()
    shared = third.ask()
    assert process.turns.place(shared) == 2
    first.context.run(process.turns.hasten, shared)
    assert process.begun == ["c"]
    assert process.turns.waiting == 1


def test_what_is_no_visitors_waits_for_those_under_way_alone(process):
    process.bytes = 900
    process.turns.enter("pass", lambda: process.begun.append("nobody"))
    assert process.begun == ["nobody"]


def test_without_a_ceiling_nobody_asks():
    def asked() -> int:
        raise AssertionError

    assert Ceiling(in_use=asked).has_room()


def test_what_this_process_takes():
    before = resident()
    if not before:
        pytest.skip("only Linux says it in /proc; elsewhere there is no ceiling")
    with mmap(-1, 50_000_000) as held:  # of the system's own, whatever malloc has kept from other tests
        for page in range(0, len(held), 4096):
            held[page] = 1
        assert 40e6 < resident() - before < 100e6


def test_work_that_takes_the_memory_of_several_begins_where_there_is_room_for_as_many(process):
    process.turns = Turns(3, 7, {"large": Kind(as_large=2)}, process.ceiling)
    process.bytes = 401  # 599 are left: for one of 300, and not for one of 600
    first, large, small = (Visitor(process, name) for name in ("first", "large", "small"))
    first.ask()
    large.context.run(process.turns.enter, "large", lambda: process.begun.append("large"))
    assert process.begun == ["first"]
    small.ask()
    assert process.begun == ["first", "small"], "who waits for more memory lets others by"
    process.bytes = 400
    process.turns.look_again()
    assert process.begun == ["first", "small", "large"]


def test_what_takes_little_goes_on_while_a_large_one_has_all_that_is_left(process):
    process.turns = Turns(3, 7, {"little": Kind(as_large=0.1)}, process.ceiling)
    process.bytes = 970  # 30 are left
    first, second, third = (Visitor(process, name) for name in ("first", "second", "third"))
    first.ask()
    second.ask()
    third.context.run(process.turns.enter, "little", lambda: process.begun.append("little"))
    assert process.begun == ["first", "little"]


def test_what_takes_long_leaves_room_for_what_others_have_begun(process):
    """Two that begin in the same moment would both find the room that is there for one."""
    process.turns = Turns(3, 7, {"text": Kind(at_once=2)}, process.ceiling)
    first, second = Visitor(process, "first"), Visitor(process, "second")
    for visitor, process.bytes in ((second, 400), (first, 500)):  # 500 are left then: for one of 300, not for two
        visitor.context.run(process.turns.enter, "text", lambda name=visitor.name: process.begun.append(name))
    assert process.begun == ["second"], "even who came first waits for what has begun"
    process.turns.leave(*process.turns._working)
    process.bytes = 900
    process.turns.look_again()
    assert process.begun == ["second", "first"], "and goes on then, however little there is"
    process.bytes = 500
    third = Visitor(process, "third")
    process.turns = Turns(3, 7, {"text": Kind(at_once=2)}, process.ceiling)
    process.begun.clear()
    for visitor in (first, third):
        visitor.context.run(process.turns.enter, "text", lambda name=visitor.name: process.begun.append(name))
    assert process.begun == ["first"]


def test_what_takes_long_leaves_room_for_what_the_first_asks_for_next(process):
    """The first goes on without room: what others began before must not have filled all there is."""
    process.turns = Turns(3, 7, {"text": Kind(at_once=2)}, process.ceiling)
    _, second, third = (Visitor(process, name) for name in ("first", "second", "third"))
    process.bytes = 500  # 500 are left: for one of 300, and not for the first one's next as well
    second.context.run(process.turns.enter, "text", lambda: process.begun.append("second"))
    assert process.begun == []
    third.ask()
    assert process.begun == ["third"], "what takes little time does not wait for that"
    process.bytes = 400
    process.turns.look_again()
    assert process.begun == ["third", "second"]
