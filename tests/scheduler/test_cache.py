"""Results shared by all: computed once, kept within the bound, never lost by one who leaves or by one that fails."""

import contextvars
import gc
import threading
import time
import weakref
from collections import Counter
from contextlib import contextmanager

import pytest
import torch

from viz.cancellation import check
from viz.errors import ModelError
from viz.scheduler import job
from viz.scheduler.cache import LARGE, Kept, Store
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import Kind, Turns, come, come_last, quietly
from viz.scheduler.sizes import OVERHEAD

TEXT = "what a visitor typed"


@pytest.fixture
def turns():
    return Turns(2, 5)


@pytest.fixture
def store(turns):
    return Store(1_000_000, turns, seconds=60)


def keep(function, store, wait=quietly):
    return Kept(function, store, "pass", wait)


def together(n, work):
    """Run the same thing in n threads at once; what each returned or raised."""
    found, start = [None] * n, threading.Barrier(n)

    def run(i):
        start.wait()
        try:
            found[i] = work()
        except ModelError as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_forty_who_ask_the_same_cost_one_pass(store):
    calls, gate = Counter(), threading.Event()

    def passes(text, layer=0):
        calls[text, layer] += 1
        gate.wait(5)
        return [text, layer]

    read = keep(passes, store)
    threading.Timer(0.05, gate.set).start()
    found = together(40, lambda: read("cat"))
    assert calls == {("cat", 0): 1}
    assert all(one is found[0] for one in found), "shared, not copied"
    assert read("cat", layer=0) is found[0], "however it is written"
    assert read("cat", 1) == ["cat", 1]


def test_a_hit_never_waits(store, turns):
    read = keep(lambda text: text.upper(), store)
    read("cat")
    for _ in range(turns.places + turns.line):
        turns.enter("pass", lambda: None)
    assert read("cat") == "CAT"
    with pytest.raises(ModelError, match="waiting already"):
        read("dog")


def test_one_result_made_of_others_is_one_turn(store):
    """Else two who wait for each other's places would wait forever."""

    def inner(text):
        return text.upper()

    def outer(text):
        return shared(text) * 2

    shared, whole = keep(inner, store), keep(outer, store)
    found = together(5, lambda: whole(threading.current_thread().name))
    assert sorted(found) == sorted(set(found))
    assert store.turns.working == 0


@pytest.mark.parametrize("room", [0, 1_000_000])
def test_a_part_is_computed_once_for_the_whole_whether_or_not_it_is_kept(turns, room, no_collector):
    store, calls, seen = Store(room, turns, seconds=60), Counter(), []

    def passes(text):
        calls[text] += 1
        seen.append(weakref.ref(tensor := torch.ones(7)))
        return tensor

    def layer(text, at):
        return float(passes(text).sum()) * at

    passes, layer = keep(passes, store), keep(layer, store)
    wall = keep(lambda text: [layer(text, at) for at in (2, 3, 5)], store)
    assert wall("a") == [14, 21, 35]
    assert calls == {"a": 1}
    assert bool(room) == (seen[0]() is not None), "what is not kept goes with the computation that needed it"


def test_of_each_function_the_last_part_stays_with_the_whole_and_no_other(turns, no_collector):
    store, calls, seen = Store(0, turns, seconds=60), Counter(), []

    def passes(text):
        assert [one for one in seen if one() is not None] == [], "what is made next has the room of the last"
        calls[text] += 1
        seen.append(weakref.ref(tensor := torch.ones(7)))
        return tensor

    passes = keep(passes, store)
    assert keep(lambda texts: sum(float(passes(text)[0]) for text in texts), store)("bccb") == 4
    assert calls == {"b": 2, "c": 1}


def test_who_needs_a_part_that_another_computes_waits_for_it(store):
    calls, gate = Counter(), threading.Event()

    def part():
        calls["part"] += 1
        gate.wait(5)
        return 3

    def whole(n):
        return shared() + n

    shared, both = keep(part, store), keep(whole, store)
    threading.Timer(0.05, gate.set).start()
    order = iter((1, 2))
    assert sorted(together(2, lambda: both(next(order)))) == [4, 5]
    assert calls == {"part": 1}


def test_a_pass_that_raises_is_a_sentence_and_the_next_one_is_fine(store, caplog):
    broken = True

    def passes(text):
        if broken:
            raise RuntimeError(f"cannot read {text}")
        return text.upper()

    read = keep(passes, store)
    for error in together(3, lambda: read(TEXT)):
        assert isinstance(error, ModelError)
        assert str(error).startswith("This could not be computed (RuntimeError)")
    assert "RuntimeError in " in caplog.text
    assert TEXT not in caplog.text, "no visitor's text in the log"
    assert (store.turns.waiting, store.turns.working, store._jobs, store._making) == (0, 0, {}, {})
    broken = False
    assert read(TEXT) == TEXT.upper()


def test_a_sentence_for_the_visitor_stays_as_it_is(store):
    def empty():
        raise ModelError("empty")

    with pytest.raises(ModelError, match="no token in this text"):
        keep(empty, store)()


class Clicked(BaseException):
    """What Streamlit raises in the run of a visitor who clicked elsewhere or left."""


def clicked(*_):
    raise Clicked


def fill(turns):
    """Take every place, so that who comes now must wait."""
    return [turns.enter("pass", lambda: None) for _ in range(turns.places)]


def test_who_leaves_is_free_at_once_and_the_place_goes_to_the_next(store, turns):
    calls, others = [], fill(turns)
    with pytest.raises(Clicked):
        keep(calls.append, store, clicked)("cat")
    assert (turns.waiting, store._jobs) == (0, {})
    for ticket in others:
        turns.leave(ticket)
    assert calls == [], "nobody waits for it, so it is not computed"


def test_a_pass_nobody_waits_for_ends_between_layers(store, turns, monkeypatch):
    monkeypatch.setattr(job, "PATIENCE", 0.05)
    begun, ended, others, layers = threading.Event(), threading.Event(), fill(turns), 0

    def passes():
        nonlocal layers
        begun.set()
        try:
            while True:
                layers += 1
                check()
                threading.Event().wait(0.01)
        finally:
            ended.set()

    def leave_when_begun(*_):
        turns.leave(others.pop())
        begun.wait(5)
        raise Clicked

    with pytest.raises(Clicked):
        keep(passes, store, leave_when_begun)()
    assert ended.wait(5)
    assert layers > 1, "a click on the same text a moment later would have found it"


def test_who_computes_alone_is_called_away_between_layers(turns):
    store = Store(1_000, turns, seconds=60, called_away=clicked)

    def passes():
        while True:
            check()

    with pytest.raises(Clicked):
        keep(passes, store)()
    assert (turns.working, store._jobs, store._making) == (0, {}, {})


def test_who_computes_for_others_too_stays(turns):
    store, joined, found = Store(1_000, turns, seconds=60, called_away=clicked), threading.Event(), []

    def passes():
        joined.wait(5)
        check()
        return "done"

    def wait_beside(event, *_):
        joined.set()
        event.wait()

    read, beside = keep(passes, store), keep(passes, store, wait_beside)

    def join():
        while not store._jobs:
            pass
        found.append(beside())

    other = threading.Thread(target=join)
    other.start()
    assert read() == "done"
    other.join()
    assert found == ["done"]


def test_a_pass_that_takes_too_long_is_stopped(turns):
    def passes():
        while True:
            check()

    with pytest.raises(ModelError, match="shorter text"):
        keep(passes, Store(1_000, turns, seconds=0.05))()
    assert turns.working == 0


def test_the_end_of_the_server_stops_a_pass(store):
    def passes():
        store.turns.closed = True
        check()

    with pytest.raises(ModelError, match="restarted"):
        keep(passes, store)()


def test_the_memory_has_an_end_and_the_oldest_go_first(turns):
    size = 4 * 250 + OVERHEAD
    store = Store(10 * size, turns, seconds=60)
    read = keep(lambda n: torch.full((250,), float(n)), store)
    for n in range(7):
        read(n)
    read(0)
    for n in range(7, 50):
        read(n)
        assert store.bytes <= store.most_bytes
        read(0)
    assert read.key(0) in store, "used again and again"
    assert read.key(49) in store
    assert read.key(1) not in store


def test_what_is_larger_than_the_memory_is_handed_out_and_not_kept(store):
    read = keep(lambda: torch.zeros(1_000_003), store)
    assert read().shape == (1_000_003,)
    assert store.bytes == 0


def test_what_stays_stays(turns):
    store = Store(5_000, turns, seconds=60)
    read = keep(lambda n: "x" * n, store)
    first = read(499)
    store.pin()
    for n in range(500, 600):
        read(n)
    assert read(499) is first
    assert store.bytes <= store.most_bytes
    read.clear()
    assert store.bytes == 0


def test_what_two_results_share_is_counted_once_and_uncounted_with_the_last(turns):
    store = Store(100_000, turns, seconds=60)

    def whole():
        return torch.zeros(1_009)

    def part():
        return base()[:503], torch.zeros(11)

    base, view = keep(whole, store), keep(part, store)
    base()
    alone = store.bytes
    view()
    assert 4 * 1_009 < alone < store.bytes < alone + 4 * 1_009
    base.clear()
    assert 4 * (1_009 + 11) <= store.bytes < 4 * (1_009 + 11) + 3 * OVERHEAD, "the view still holds it all"
    assert view()[0].untyped_storage().data_ptr() in store.storages
    view.clear()
    assert store.bytes == 0
    assert not list(store.storages)


def test_a_page_steps_aside_while_it_waits_and_while_it_computes_for_long(turns):
    """Until then it goes on by itself: two short computations take longer side by side than one after the other."""
    steps, long = [], threading.Event()

    @contextmanager
    def aside():
        steps.append("aside")
        yield
        steps.append("back")

    def passes(n):
        steps.append(n)
        if n == "long":
            time.sleep(0.02)
        check()
        steps.append("done")
        long.wait(5)

    store = Store(1_000, turns, seconds=60, aside=aside, short=0.01)
    read = keep(passes, store)
    long.set()
    read("short")
    assert steps == ["short", "done"]
    steps.clear()
    read("long")
    assert steps == ["long", "aside", "done", "back"]
    steps.clear()
    keep(passes, Store(1_000, turns, seconds=60, aside=aside))("model")
    assert steps == ["aside", "model", "done", "back"]
    steps.clear()
    with_long = Store(1_000, Turns(2, 7, {"pass": Kind(at_once=1)}), seconds=60, aside=aside, short=0.01)
    keep(passes, with_long)("part of an atlas")
    assert steps == ["aside", "part of an atlas", "done", "back"], "it is known to take long"
    long.clear()
    steps.clear()
    threading.Timer(0.1, long.set).start()
    together(2, lambda: read("both"))
    assert steps == ["both", "done", "aside", "back"], "who waits steps aside"


def test_what_is_kept_gives_way(turns):
    store = Store(1_000_000, turns, seconds=60)
    read = keep(lambda n: torch.full((250,), float(n)), store)
    for n in range(5):
        read(n)
    read(0)
    before = store.bytes
    store.shrink(1)
    assert 0 < before - store.bytes <= 1_000 + 2 * OVERHEAD
    assert read.key(1) not in store
    assert read.key(0) in store, "used last"
    store.shrink(float("inf"))
    assert store.bytes == 0


def test_of_which_kind_work_is_is_asked_where_there_is_work(store):
    asked = []
    read = Kept(len, store, lambda key: asked.append(key) or "pass", quietly)
    assert [read("a text"), read("a text")] == [6, 6]
    assert asked == [read.key("a text")]


def test_what_is_small_stays_where_memory_is_short(turns):
    store = Store(1_000_000, turns, seconds=60, small=2_000 + OVERHEAD)
    read = keep(lambda n: torch.full((n,), 0.0), store)
    for n in (250, 25_000, 251):
        read(n)
    store.shrink(float("inf"))
    assert [read.key(n) in store for n in (250, 25_000, 251)] == [True, False, True]


@pytest.mark.parametrize("waits", [False, True])
def test_what_took_long_stays_with_who_came_first_where_memory_is_short(turns, waits):
    """Else each part of a page has the same pass computed anew, whether its own thread computes or another one."""
    store = Store(1_000_000, turns, seconds=60, dear=0.05)
    read = keep(lambda seconds: time.sleep(seconds) or "x" * 10_000, store)
    first, second = contextvars.copy_context(), contextvars.copy_context()
    came = first.run(come)
    second.run(come)
    others = fill(turns) if waits else []
    for ticket in others:
        threading.Timer(0.1, turns.leave, [ticket]).start()
    for seconds in (0.06, 0.001):
        first.run(read, seconds)
    second.run(read, 0.07)
    store.shrink(float("inf"), came)
    assert [read.key(seconds) in store for seconds in (0.06, 0.001, 0.07)] == [True, False, False]
    second.run(read, 0.06)
    store.shrink(float("inf"), came)
    assert store.bytes == 0, "the second used it last, and goes on when it is first itself"


def test_what_took_long_is_not_forgotten_for_what_its_visitor_asks_for_next(turns):
    store = Store(25_000 + 3 * OVERHEAD, turns, seconds=60, dear=0.05)
    read = keep(lambda seconds: time.sleep(seconds) or "x" * 2_500, store)  # 10 kB
    contextvars.copy_context().run(lambda: (come(), read(0.06), read(0.001), read(0.002)))
    assert [read.key(seconds) in store for seconds in (0.06, 0.001, 0.002)] == [True, False, True]
    contextvars.copy_context().run(lambda: (come(), read(0.003)))
    assert [read.key(seconds) in store for seconds in (0.06, 0.002, 0.003)] == [False, True, True], "others' goes first"


def test_where_memory_is_short_what_is_large_and_soon_computed_again_is_not_kept():
    held = [700]
    turns = Turns(2, 5, ceiling=Ceiling(lambda: 1_000, 300, lambda: held[0]))
    store = Store(10 * LARGE, turns, seconds=60, dear=0.05)
    read = keep(lambda n, seconds: time.sleep(seconds) or b"x" * n, store)
    for held[0], kept in ((701, [False, True, True]), (700, [True, True, True])):
        asked = [(LARGE, 0.0), (LARGE - 2 * OVERHEAD, 0.0), (LARGE, 0.06)]
        assert [len(read(*one)) for one in asked] == [n for n, _ in asked]
        assert [read.key(*one) in store for one in asked] == kept


def test_what_is_for_nobody_who_waits_has_no_claim(turns):
    store = Store(25_000 + 3 * OVERHEAD, turns, seconds=60, dear=0)
    read = keep(lambda n: "x" * (2_500 + n), store)
    contextvars.copy_context().run(lambda: (come_last(), read(0), read(1), read(2)))
    assert [read.key(n) in store for n in range(3)] == [False, True, True]


class Result:
    """Stands for tensors, whose bytes Python's collector does not count."""


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("waits", [False, True])
def test_a_result_goes_with_who_asked_for_it_and_waits_for_no_collection(turns, no_collector, waits):
    store = Store(0, turns, seconds=60)
    others = fill(turns) if waits else []
    read = keep(Result, store)
    for ticket in others:
        threading.Timer(0.05, turns.leave, (ticket,)).start()
    held = weakref.ref(read())
    for _ in range(100):  # a thread of the store may still be about to forget it
        if held() is None:
            break
        time.sleep(0.01)
    assert held() is None


@pytest.mark.parametrize("error", [ModelError("empty"), RuntimeError("broken")])
def test_what_failed_holds_nothing_either(store, no_collector, error):
    held = []

    def passes():
        half = Result()
        held.append(weakref.ref(half))
        raise error

    def page():
        context = Result()
        held.append(weakref.ref(context))
        keep(passes, store)()

    with pytest.raises(ModelError) as raised:
        page()
    del raised
    error.__traceback__ = None  # this list of parameters holds it
    assert [one() for one in held] == [None, None]


def test_who_was_called_away_while_waiting_leaves_nothing(store, turns, no_collector):
    held, others = [], fill(turns)

    def page():
        context = Result()
        held.append(weakref.ref(context))
        keep(lambda: context, store, clicked)()

    with pytest.raises(Clicked):
        page()
    assert [one() for one in held] == [None]
    assert others
