"""A fair line: first come, first served, no more than there are places, and whoever leaves leaves nothing behind."""

import contextvars
import threading

import pytest

from viz.errors import ModelError
from viz.scheduler import fair_queue
from viz.scheduler.fair_queue import Kind, Turns, come, quietly


@pytest.fixture
def called():
    return []


def enter(turns, called, name, kind="pass"):
    return turns.enter(kind, lambda: called.append(name))


def test_who_comes_first_is_served_first(called):
    turns = Turns(2, 7)
    tickets = [enter(turns, called, name) for name in "abcde"]
    assert called == ["a", "b"]
    assert [turns.place(ticket) for ticket in tickets] == [0, 0, 1, 2, 3]
    turns.leave(tickets[1])
    assert called == ["a", "b", "c"]
    assert [turns.place(tickets[3]), turns.place(tickets[4])] == [1, 2]


def test_what_a_visitor_asks_for_next_stands_where_the_visitor_came(called):
    """A page asks for one thing after the other: it must not go to the end of the line each time."""
    turns, busy = Turns(1, 7), []
    first = enter(turns, busy, "somebody")
    early, late = contextvars.copy_context(), contextvars.copy_context()
    early.run(come)
    late.run(come)
    later = late.run(enter, turns, called, "late")
    second = early.run(enter, turns, called, "early, again")
    assert (turns.place(second), turns.place(later)) == (1, 2)
    turns.leave(first)
    assert called == ["early, again"]


def test_who_gives_up_lets_the_others_move_up(called):
    turns = Turns(1, 7)
    first, second, third = (enter(turns, called, name) for name in "abc")
    assert turns.drop(second)
    assert turns.place(third) == 1
    assert not turns.drop(first), "its turn has come: it must be ended"
    turns.leave(first)
    assert called == ["a", "c"]
    turns.leave(third)
    assert (turns.waiting, turns.working) == (0, 0)


def test_the_line_has_an_end(called):
    turns = Turns(1, 2)
    tickets = [enter(turns, called, name) for name in "abc"]
    with pytest.raises(ModelError, match="2 computations are waiting"):
        enter(turns, called, "d")
    assert turns.waiting == 2
    turns.leave(tickets[0])
    enter(turns, called, "e")
    assert called == ["a", "b"]


def test_some_kinds_have_fewer_places_and_let_others_by(called):
    turns = Turns(3, 7, {"lesson": Kind(at_once=1)})
    lesson = enter(turns, called, "lesson", "lesson")
    waiting = enter(turns, called, "next lesson", "lesson")
    enter(turns, called, "pass")
    assert called == ["lesson", "pass"]
    assert turns.place(waiting) == 1
    turns.leave(lesson)
    assert called == ["lesson", "pass", "next lesson"]


def test_a_place_stays_for_what_does_not_take_long(called):
    """Otherwise everybody who looks at a sentence waits behind two who look at long texts."""
    turns = Turns(3, 7, {"text": Kind(at_once=2), "atlas": Kind(at_once=1)}, quick=1)
    atlas, _, waiting = (enter(turns, called, kind, kind) for kind in ("atlas", "text", "text"))
    assert called == ["atlas", "text"] and turns.place(waiting) == 1
    sentences = [enter(turns, called, "sentence") for _ in range(2)]
    assert called == ["atlas", "text", "sentence"] and turns.place(sentences[1]) == 2
    turns.leave(sentences[0])
    assert called[3:] == ["sentence"], "it passes the text that came before"
    turns.leave(atlas)
    assert called[4:] == ["text"]


def test_while_others_look_at_sentences_fewer_texts_are_computed(called, monkeypatch):
    turns = Turns(3, 7, {"text": Kind(at_once=2, beside_quick=1)}, quick=1)
    turns.leave(enter(turns, called, "sentence"))
    first, _ = (enter(turns, called, name, "text") for name in ("one", "two"))
    assert called == ["sentence", "one"]
    monkeypatch.setattr(fair_queue, "RECENT", 0.0)
    turns.look_again()
    assert called == ["sentence", "one", "two"]
    turns.leave(first)


def test_what_has_many_parts_stands_in_the_line_anew_with_each(called):
    """An atlas of twenty parts would come before all others each time, since its visitor did."""
    turns, asks = Turns(1, 7, {"atlas": Kind(at_once=1, anew=True)}), contextvars.copy_context()
    asks.run(come)
    part = asks.run(enter, turns, called, "a part", "atlas")
    contextvars.Context().run(enter, turns, called, "another visitor")  # nothing of what an earlier test has set
    later = asks.run(enter, turns, called, "the next part", "atlas")
    assert turns.place(later) == 2
    asks.run(turns.hasten, later)
    turns.leave(part)
    assert called == ["a part", "another visitor"]


def test_a_turn_ends_whatever_happens_in_it():
    turns = Turns(1, 1)
    with pytest.raises(ZeroDivisionError), turns.turn("pass", quietly):
        assert turns.working == 1
        _ = 1 / 0
    assert turns.working == 0


def test_who_is_called_away_while_waiting_gives_the_place_up():
    turns = Turns(1, 1)

    def away(*_):
        raise KeyboardInterrupt

    with turns.turn("pass", quietly):
        with pytest.raises(KeyboardInterrupt), turns.turn("pass", away):
            pytest.fail("the turn never came")
        assert (turns.waiting, turns.working) == (0, 1)
    assert turns.working == 0


def test_nothing_begins_at_the_end(called):
    turns = Turns(1, 1)
    turns.closed = True
    with pytest.raises(ModelError, match="restarted"):
        enter(turns, called, "a")


def test_many_threads_never_more_than_the_places():
    turns, lock = Turns(3, 100), threading.Lock()
    now, most = 0, 0

    def work():
        nonlocal now, most
        with turns.turn("pass", quietly):
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
