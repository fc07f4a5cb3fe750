"""Tests of the fair queue: order, number of workers, dropped tickets."""

import contextvars
import threading

import pytest

from viz.background import failures
from viz.errors import ModelError
from viz.scheduler import fair_queue
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import FairQueue, Kind, Ticket, mark_arrival, wait_silently


@pytest.fixture
def admitted():
    return []


def enter(turns, admitted, name, kind="pass"):
    return turns.enter(kind, lambda: admitted.append(name))


def test_tickets_are_admitted_in_order(admitted):
    turns = FairQueue(2, 7)
    tickets = [enter(turns, admitted, name) for name in "abcde"]
    assert admitted == ["a", "b"]
    assert [turns.place(ticket) for ticket in tickets] == [0, 0, 1, 2, 3]
    turns.leave(tickets[1])
    assert admitted == ["a", "b", "c"]
    assert [turns.place(tickets[3]), turns.place(tickets[4])] == [1, 2]


def test_next_request_keeps_arrival(admitted):
    """A page asks for one thing after the other: it must not go to the end of the line each time."""
    turns, busy = FairQueue(1, 7), []
    first = enter(turns, busy, "somebody")
    early, late = contextvars.copy_context(), contextvars.copy_context()
    early.run(mark_arrival)
    late.run(mark_arrival)
    later = late.run(enter, turns, admitted, "late")
    second = early.run(enter, turns, admitted, "early, again")
    assert (turns.place(second), turns.place(later)) == (1, 2)
    turns.leave(first)
    assert admitted == ["early, again"]


def test_drop_moves_others_up(admitted):
    turns = FairQueue(1, 7)
    first, second, third = (enter(turns, admitted, name) for name in "abc")
    assert turns.drop(second)
    assert turns.place(third) == 1
    assert not turns.drop(first), "its turn has come: it must be ended"
    turns.leave(first)
    assert admitted == ["a", "c"]
    turns.leave(third)
    assert (turns.waiting, turns.working) == (0, 0)


def test_full_queue_refuses(admitted):
    turns = FairQueue(1, 2)
    tickets = [enter(turns, admitted, name) for name in "abc"]
    with pytest.raises(ModelError, match="2 computations are waiting"):
        enter(turns, admitted, "d")
    assert turns.waiting == 2
    turns.leave(tickets[0])
    enter(turns, admitted, "e")
    assert admitted == ["a", "b"]


def test_limited_kind_lets_others_pass(admitted):
    turns = FairQueue(3, 7, {"lesson": Kind(at_once=1)})
    lesson = enter(turns, admitted, "lesson", "lesson")
    waiting = enter(turns, admitted, "next lesson", "lesson")
    enter(turns, admitted, "pass")
    assert admitted == ["lesson", "pass"]
    assert turns.place(waiting) == 1
    turns.leave(lesson)
    assert admitted == ["lesson", "pass", "next lesson"]


def test_quick_work_has_reserved_worker(admitted):
    """Otherwise everybody who looks at a sentence waits behind two who look at long texts."""
    turns = FairQueue(3, 7, {"text": Kind(at_once=2), "atlas": Kind(at_once=1)}, quick=1)
    atlas, _, waiting = (enter(turns, admitted, kind, kind) for kind in ("atlas", "text", "text"))
    assert admitted == ["atlas", "text"] and turns.place(waiting) == 1
    sentences = [enter(turns, admitted, "sentence") for _ in range(2)]
    assert admitted == ["atlas", "text", "sentence"] and turns.place(sentences[1]) == 2
    turns.leave(sentences[0])
    assert admitted[3:] == ["sentence"], "it passes the text that came before"
    turns.leave(atlas)
    assert admitted[4:] == ["text"]


def test_interactive_users_limit_long_work(admitted, monkeypatch):
    turns = FairQueue(3, 7, {"text": Kind(at_once=2, max_while_interactive=1)}, quick=1)
    turns.leave(enter(turns, admitted, "sentence"))
    first, _ = (enter(turns, admitted, name, "text") for name in ("one", "two"))
    assert admitted == ["sentence", "one"]
    monkeypatch.setattr(fair_queue, "RECENT", 0.0)
    turns.admit_waiting()
    assert admitted == ["sentence", "one", "two"]
    turns.leave(first)


def test_requeue_parts_queues_by_request_time(admitted):
    """An atlas of twenty parts would come before all others each time, since its user did."""
    turns, asks = FairQueue(1, 7, {"atlas": Kind(at_once=1, requeue_parts=True)}), contextvars.copy_context()
    asks.run(mark_arrival)
    part = asks.run(enter, turns, admitted, "a part", "atlas")
    contextvars.Context().run(enter, turns, admitted, "another visitor")  # nothing of what an earlier test has set
    later = asks.run(enter, turns, admitted, "the next part", "atlas")
    assert turns.place(later) == 2
    asks.run(turns.promote, later)
    turns.leave(part)
    assert admitted == ["a part", "another visitor"]


ADMISSION = {
    "enter": lambda turns, tickets: tickets.update(c=enter(turns, tickets["begun"], "c")),
    "promote": lambda turns, tickets: turns.promote(tickets["b"]),
    "leave": lambda turns, tickets: turns.leave(tickets["a"]),
    "maintenance": lambda turns, _: turns.admit_waiting(),
}
"""Calls that admit tickets."""


@pytest.mark.parametrize("call", ADMISSION)
@pytest.mark.parametrize(
    ("owner", "name"), [(FairQueue, "_admit"), (Ticket, "start"), (Ceiling, "has_room"), (Ceiling, "is_oldest")]
)
def test_error_at_admission_loses_no_place(call, owner, name, admitted, raise_once):
    """All others are admitted in turn, the place is free again, and the log has one line."""
    turns, tickets = FairQueue(1, 7), {"begun": admitted}
    tickets |= {name: enter(turns, admitted, name) for name in "ab"}
    turns.places = 2
    log = raise_once(owner, name)
    ADMISSION[call](turns, tickets)
    assert log() == ["queue failed: FaultError"]
    tickets |= {name: enter(turns, admitted, name) for name in "de"}
    for _ in range(5):
        turns.admit_waiting()
        for label in list(admitted):
            turns.leave(tickets[label])
    assert set(admitted) >= set("ade") and len(admitted) >= len(tickets) - 2
    assert (turns.waiting, turns.working) == (0, 0)


def test_failed_ticket_lets_next_begin(admitted):
    """Of tickets admitted together, each begins, whatever becomes of one before it."""
    turns = FairQueue(3, 7)
    turns.places = 0
    for name in "ab":
        turns.enter("pass", lambda name=name: admitted.append(name) or {}[name])
    enter(turns, admitted, "c")
    turns.places = 2
    n_before = failures["queue"]
    turns.admit_waiting()
    assert (admitted, failures["queue"] - n_before) == (["a", "b", "c"], 2)
    assert (turns.waiting, turns.working) == (0, 1)


def test_failing_ticket_holds_no_other(admitted):
    """One at which each admission fails is passed over, wherever it waits, until its user gives up."""
    turns = FairQueue(1, 7)
    ticket = enter(turns, admitted, "a")
    has_place, turns._has_place = (
        turns._has_place,
        lambda kind, busy: {}[kind] if kind == "odd" else has_place(kind, busy),
    )
    odd = enter(turns, admitted, "odd", kind="odd")
    enter(turns, admitted, "b")
    turns.leave(ticket)
    assert (admitted, turns.place(odd)) == (["a", "b"], 1)
    assert turns.drop(odd) and turns.waiting == 0


def test_turn_ends_after_error():
    turns = FairQueue(1, 1)
    with pytest.raises(ZeroDivisionError), turns.turn("pass", wait_silently):
        assert turns.working == 1
        _ = 1 / 0
    assert turns.working == 0


def test_interrupted_wait_drops_ticket():
    turns = FairQueue(1, 1)

    def away(*_):
        raise KeyboardInterrupt

    with turns.turn("pass", wait_silently):
        with pytest.raises(KeyboardInterrupt), turns.turn("pass", away):
            pytest.fail("the turn never came")
        assert (turns.waiting, turns.working) == (0, 1)
    assert turns.working == 0


def test_closed_queue_refuses(admitted):
    turns = FairQueue(1, 1)
    turns.is_closed = True
    with pytest.raises(ModelError, match="restarted"):
        enter(turns, admitted, "a")


def test_threads_never_exceed_workers():
    turns, lock = FairQueue(3, 100), threading.Lock()
    now, most = 0, 0

    def work():
        nonlocal now, most
        with turns.turn("pass", wait_silently):
            with lock:
                now, most = now + 1, max(most, now + 1)
            threading.Event().wait(0.001)
            with lock:
                now -= 1

    threads = [threading.Thread(target=work) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most <= 3
    assert (turns.waiting, turns.working) == (0, 0)
