"""Tests of the result cache: shared computations, bounds, disconnects and errors."""

import contextvars
import gc
import math
import threading
import time
import weakref
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch

from tests import SAFETY_NET
from viz.background import Pool
from viz.cancellation import check
from viz.errors import ModelError
from viz.scheduler import cache as cache_module
from viz.scheduler import job
from viz.scheduler.cache import LARGE, CachedFunction, Store
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import FairQueue, Kind, mark_arrival, wait_silently
from viz.scheduler.sizes import OVERHEAD

TEXT = "what a visitor typed"


@pytest.fixture
def turns():
    return FairQueue(2, 5)


@pytest.fixture
def store(turns):
    return Store(1_000_000, turns, seconds=60)


@pytest.fixture
def spend(monkeypatch):
    """Let a computation take seconds by the clock of the cache and its jobs, which goes ahead of the machine's."""
    ahead, now = [0.0], time.monotonic

    def spend_seconds(seconds):
        ahead[0] += seconds

    for module in (cache_module, job):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now() + ahead[0]))
    return spend_seconds


def cache(function, store, wait=wait_silently):
    return CachedFunction(function, lambda: store, "pass", wait)


def run_together(n, work):
    """Run a function in n threads at once; return what each returned or raised."""
    outcomes, start = [None] * n, threading.Barrier(n)

    def run(i):
        start.wait()
        try:
            outcomes[i] = work()
        except ModelError as error:
            outcomes[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_equal_requests_compute_once(store):
    calls, gate = Counter(), threading.Event()

    def passes(text, layer=0):
        calls[text, layer] += 1
        gate.wait(SAFETY_NET)
        return [text, layer]

    read = cache(passes, store)
    threading.Timer(0.05, gate.set).start()
    results = run_together(40, lambda: read("cat"))
    assert calls == {("cat", 0): 1}
    assert all(result is results[0] for result in results), "shared, not copied"
    assert read("cat", layer=0) is results[0], "however it is written"
    assert read("cat", 1) == ["cat", 1]


def test_hit_never_waits(store, turns):
    read = cache(lambda text: text.upper(), store)
    read("cat")
    for _ in range(turns.places + turns.line):
        turns.enter("pass", lambda: None)
    assert read("cat") == "CAT"
    with pytest.raises(ModelError, match="waiting already"):
        read("dog")


def test_nested_results_take_one_turn(store):
    """Otherwise two threads could wait for each other's workers forever."""

    def inner(text):
        return text.upper()

    def outer(text):
        return shared(text) * 2

    shared, outer_read = cache(inner, store), cache(outer, store)
    results = run_together(5, lambda: outer_read(threading.current_thread().name))
    assert sorted(results) == sorted(set(results))
    assert store.turns.working == 0


@pytest.mark.parametrize("room", [0, 1_000_000])
def test_intermediate_result_is_computed_once(turns, room, no_collector):
    store, calls, references = Store(room, turns, seconds=60), Counter(), []

    def passes(text):
        calls[text] += 1
        references.append(weakref.ref(tensor := torch.ones(7)))
        return tensor

    def layer(text, at):
        return float(passes(text).sum()) * at

    passes, layer = cache(passes, store), cache(layer, store)
    wall = cache(lambda text: [layer(text, at) for at in (2, 3, 5)], store)
    assert wall("a") == [14, 21, 35]
    assert calls == {"a": 1}
    assert bool(room) == (references[0]() is not None), "what is not kept goes with the computation that needed it"


def test_job_holds_last_part_only(turns, no_collector):
    store, calls, references = Store(0, turns, seconds=60), Counter(), []

    def passes(text):
        assert [reference for reference in references if reference() is not None] == [], (
            "what is made next has the room of the last"
        )
        calls[text] += 1
        references.append(weakref.ref(tensor := torch.ones(7)))
        return tensor

    passes = cache(passes, store)
    assert cache(lambda texts: sum(float(passes(text)[0]) for text in texts), store)("bccb") == 4
    assert calls == {"b": 2, "c": 1}


def test_part_in_progress_is_awaited(store):
    calls, gate = Counter(), threading.Event()

    def part():
        calls["part"] += 1
        gate.wait(SAFETY_NET)
        return 3

    def add_part(n):
        return shared() + n

    shared, both = cache(part, store), cache(add_part, store)
    threading.Timer(0.05, gate.set).start()
    order = iter((1, 2))
    assert sorted(run_together(2, lambda: both(next(order)))) == [4, 5]
    assert calls == {"part": 1}


def test_error_is_reported_without_text(store, caplog):
    fails = True

    def passes(text):
        if fails:
            raise RuntimeError(f"cannot read {text}")
        return text.upper()

    read = cache(passes, store)
    for error in run_together(3, lambda: read(TEXT)):
        assert isinstance(error, ModelError)
        assert str(error).startswith("This could not be computed (RuntimeError)")
    assert "RuntimeError in " in caplog.text
    assert TEXT not in caplog.text, "no visitor's text in the log"
    assert (store.turns.waiting, store.turns.working, store._jobs, store._in_progress) == (0, 0, {}, {})
    fails = False
    assert read(TEXT) == TEXT.upper()


class Clicked(BaseException):
    """Stand-in for the exception that Streamlit raises when a user clicks elsewhere or leaves."""


def raise_clicked(*_):
    raise Clicked


def fill_queue(turns):
    """Occupy every worker, so that the next request has to wait."""
    return [turns.enter("pass", lambda: None) for _ in range(turns.places)]


def test_disconnect_while_waiting_drops_ticket(store, turns, no_collector):
    calls, references, tickets = [], [], fill_queue(turns)

    def page():
        context = Result()
        references.append(weakref.ref(context))
        cache(lambda: calls.append(context), store, raise_clicked)()

    with pytest.raises(Clicked):
        page()
    assert (turns.waiting, store._jobs) == (0, {})
    assert [reference() for reference in references] == [None], "what it held is freed"
    for ticket in tickets:
        turns.leave(ticket)
    assert calls == [], "nobody waits for it, so it is not computed"


def test_unclaimed_job_ends_between_layers(store, turns, monkeypatch):
    monkeypatch.setattr(job, "PATIENCE", 0.05)
    beginning, end, tickets, layers = threading.Event(), threading.Event(), fill_queue(turns), 0

    def passes():
        nonlocal layers
        beginning.set()
        try:
            while True:
                layers += 1
                check()
                threading.Event().wait(0.01)
        finally:
            end.set()

    def leave_when_begun(*_):
        turns.leave(tickets.pop())
        beginning.wait(SAFETY_NET)
        raise Clicked

    with pytest.raises(Clicked):
        cache(passes, store, leave_when_begun)()
    assert end.wait(SAFETY_NET)
    assert layers > 1, "a click on the same text a moment later would have found it"


@pytest.mark.parametrize("fault", ["thread", "begin_thread"])
def test_failed_thread_loses_one_request(fault, monkeypatch):
    """Its user reads an error; the same request again, and all others, are computed."""
    faults, submit, answers = [RuntimeError("can't start new thread")], Pool.submit, list[object]()
    kept_works = []

    def fail_once(*works):
        if faults:
            kept_works.extend(works)
            raise faults.pop()

    if fault == "thread":
        monkeypatch.setattr(Pool, "submit", lambda pool, work: fail_once(work) or submit(pool, work))
    store = Store(1_000_000, FairQueue(1, 5), seconds=60, begin_thread=fail_once if fault == "begin_thread" else bool)
    read = cache(lambda n: n, store)
    with store.turns.turn("pass", wait_silently):
        threads = [threading.Thread(target=lambda n=n: answers.extend(run_together(1, lambda: read(n)))) for n in "ab"]
        for n, thread in enumerate(threads, 1):
            thread.start()
            while store.turns.waiting < n:
                time.sleep(0.001)
    for thread in threads:
        thread.join(SAFETY_NET)
    assert str(next(answer for answer in answers if isinstance(answer, ModelError))).count("RuntimeError") == 1
    assert "b" in answers and (read("a"), read("b")) == ("a", "b")
    assert (store.turns.waiting, store.turns.working, store._jobs, store._in_progress) == (0, 0, {}, {})
    assert all(work() is True for work in kept_works), "Python's pool keeps it, and begins it with its next thread"


def test_error_before_waiting_loses_no_place(turns):
    """A user's thread that has been admitted gives its place back, whatever keeps it from computing."""

    @contextmanager
    def fail():
        raise KeyError
        yield

    store = Store(1_000_000, turns, seconds=60, on_wait=fail)
    with pytest.raises(ModelError, match="KeyError"):
        cache(lambda: 1, store)()
    assert (turns.working, store._jobs) == (0, {})


def test_started_pool_needs_no_thread(monkeypatch):
    """A server starts its threads first: later, users' runs may have taken all that the system has."""
    store = Store(1_000_000, FairQueue(2, 5), seconds=60)
    store.threads.start()
    n_before, gate = threading.active_count(), threading.Barrier(3)
    monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was started"))
    for _ in range(2):
        store.threads.submit(lambda: gate.wait(SAFETY_NET))
    gate.wait(SAFETY_NET)
    assert threading.active_count() == n_before


def test_disconnect_while_computing_ends_job(turns):
    store = Store(1_000, turns, seconds=60, raise_if_disconnected=raise_clicked)

    def passes():
        while True:
            check()

    with pytest.raises(Clicked):
        cache(passes, store)()
    assert (turns.working, store._jobs, store._in_progress) == (0, {}, {})


def test_shared_job_survives_disconnect(turns):
    store, second_waits, answers = (
        Store(1_000, turns, seconds=60, raise_if_disconnected=raise_clicked),
        threading.Event(),
        [],
    )

    def passes():
        second_waits.wait(SAFETY_NET)
        check()
        return "done"

    def wait_beside(event, *_):
        second_waits.set()
        event.wait()

    read, beside = cache(passes, store), cache(passes, store, wait_beside)

    def join():
        while not store._jobs:
            pass
        answers.append(beside())

    second = threading.Thread(target=join)
    second.start()
    assert read() == "done"
    second.join()
    assert answers == ["done"]


def test_job_over_time_is_stopped(turns):
    def passes():
        while True:
            check()

    with pytest.raises(ModelError, match="shorter text"):
        cache(passes, Store(1_000, turns, seconds=0.05))()
    assert turns.working == 0


def test_closing_server_stops_job(store):
    def passes():
        store.turns.is_closed = True
        check()

    with pytest.raises(ModelError, match="restarted"):
        cache(passes, store)()


def test_cache_evicts_least_recently_used(turns):
    size = 4 * 250 + OVERHEAD
    store = Store(10 * size, turns, seconds=60)
    read = cache(lambda n: torch.full((250,), float(n)), store)
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


def test_oversized_result_is_not_cached(store):
    read = cache(lambda: torch.zeros(1_000_003), store)
    assert read().shape == (1_000_003,)
    assert store.bytes == 0


def test_pin_keeps_results(turns):
    store = Store(5_000, turns, seconds=60)
    read = cache(lambda n: "x" * n, store)
    first = read(499)
    store.pin()
    for n in range(500, 600):
        read(n)
    assert read(499) is first
    assert store.bytes <= store.most_bytes
    store.forget(read._name)
    assert store.bytes == 0


def test_shared_storage_counts_once(turns):
    store = Store(100_000, turns, seconds=60)

    def make_base():
        return torch.zeros(1_009)

    def part():
        return base()[:503], torch.zeros(11)

    base, view = cache(make_base, store), cache(part, store)
    base()
    alone = store.bytes
    view()
    assert 4 * 1_009 < alone < store.bytes < alone + 4 * 1_009
    store.forget(base._name)
    assert 4 * (1_009 + 11) <= store.bytes < 4 * (1_009 + 11) + 3 * OVERHEAD, "the view still holds it all"
    assert view()[0].untyped_storage().data_ptr() in store.storages
    store.forget(view._name)
    assert store.bytes == 0
    assert not list(store.storages)


def test_on_wait_is_entered_for_waiting(turns, spend):
    """Quick computations do not release the render slot: two take longer in parallel than in sequence."""
    steps, long = [], threading.Event()

    @contextmanager
    def aside():
        steps.append("aside")
        yield
        steps.append("back")

    def passes(n):
        steps.append(n)
        if n == "long":
            spend(600)
        check()
        steps.append("done")
        long.wait(SAFETY_NET)

    store = Store(1_000, turns, seconds=1_000, on_wait=aside, quick_seconds=300)
    read = cache(passes, store)
    long.set()
    read("short")
    assert steps == ["short", "done"]
    steps.clear()
    read("long")
    assert steps == ["long", "aside", "done", "back"]
    steps.clear()
    cache(passes, Store(1_000, turns, seconds=60, on_wait=aside))("model")
    assert steps == ["aside", "model", "done", "back"]
    steps.clear()
    with_long = Store(1_000, FairQueue(2, 7, {"pass": Kind(at_once=1)}), seconds=60, on_wait=aside, quick_seconds=30)
    cache(passes, with_long)("part of an atlas")
    assert steps == ["aside", "part of an atlas", "done", "back"], "it is known to take long"
    long.clear()
    steps.clear()
    threading.Timer(0.1, long.set).start()
    run_together(2, lambda: read("both"))
    assert steps == ["both", "done", "aside", "back"], "who waits steps aside"


def test_shrink_evicts_least_recently_used(turns):
    store = Store(1_000_000, turns, seconds=60)
    read = cache(lambda n: torch.full((250,), float(n)), store)
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


def test_kind_is_read_on_miss(store):
    keys = []
    read = CachedFunction(len, lambda: store, lambda key: keys.append(key) or "pass", wait_silently)
    assert [read("a text"), read("a text")] == [6, 6]
    assert keys == [read.key("a text")]


def test_shrink_keeps_small_results(turns):
    store = Store(1_000_000, turns, seconds=60, keep_below_bytes=2_000 + OVERHEAD)
    read = cache(lambda n: torch.full((n,), 0.0), store)
    for n in (250, 25_000, 251):
        read(n)
    store.shrink(float("inf"))
    assert [read.key(n) in store for n in (250, 25_000, 251)] == [True, False, True]


@pytest.mark.parametrize("waits", [False, True])
def test_shrink_keeps_oldest_users_results(turns, waits, spend):
    """Otherwise each part of a page would compute the same forward pass again, in whichever thread."""
    store = Store(1_000_000, turns, seconds=60, protect_after_seconds=300)
    read = cache(lambda seconds: spend(seconds) or "x" * 10_000, store)
    first, second = contextvars.copy_context(), contextvars.copy_context()
    arrival = first.run(mark_arrival)
    second.run(mark_arrival)
    tickets = fill_queue(turns) if waits else []
    for ticket in tickets:
        threading.Timer(0.1, turns.leave, [ticket]).start()
    for seconds in (600, 0):
        first.run(read, seconds)
    second.run(read, 700)
    store.shrink(float("inf"), arrival)
    assert [read.key(seconds) in store for seconds in (600, 0, 700)] == [True, False, False]
    second.run(read, 600)
    store.shrink(float("inf"), arrival)
    assert store.bytes == 0, "the second used it last, and goes on when it is first itself"


def test_long_result_survives_next_request(turns, spend):
    store = Store(25_000 + 3 * OVERHEAD, turns, seconds=60, protect_after_seconds=300)
    read = cache(lambda seconds: spend(seconds) or "x" * 2_500, store)  # 10 kB
    contextvars.copy_context().run(lambda: (mark_arrival(), read(600), read(0), read(1)))
    assert [read.key(seconds) in store for seconds in (600, 0, 1)] == [True, False, True]
    contextvars.copy_context().run(lambda: (mark_arrival(), read(2)))
    assert [read.key(seconds) in store for seconds in (600, 1, 2)] == [False, True, True], "others' goes first"


def test_short_memory_skips_large_results(spend):
    bytes_in_use = [700]
    turns = FairQueue(2, 5, ceiling=Ceiling(lambda: 1_000, 300, lambda: bytes_in_use[0]))
    store = Store(10 * LARGE, turns, seconds=60, protect_after_seconds=300)
    read = cache(lambda n, seconds: spend(seconds) or b"x" * n, store)
    for bytes_in_use[0], are_cached in ((701, [False, True, True]), (700, [True, True, True])):
        requests = [(LARGE, 0.0), (LARGE - 2 * OVERHEAD, 0.0), (LARGE, 600)]
        assert [len(read(*request)) for request in requests] == [n for n, _ in requests]
        assert [read.key(*request) in store for request in requests] == are_cached


def test_background_results_are_evicted_first(turns):
    store = Store(25_000 + 3 * OVERHEAD, turns, seconds=60, protect_after_seconds=0)
    read = cache(lambda n: "x" * (2_500 + n), store)
    contextvars.copy_context().run(lambda: (mark_arrival(math.inf), read(0), read(1), read(2)))
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
def test_result_is_freed_without_collection(turns, no_collector, waits):
    store = Store(0, turns, seconds=60)
    tickets = fill_queue(turns) if waits else []
    read = cache(Result, store)
    for ticket in tickets:
        threading.Timer(0.05, turns.leave, (ticket,)).start()
    result = weakref.ref(read())
    for _ in range(100):  # a thread of the store may still be about to forget it
        if result() is None:
            break
        time.sleep(0.01)
    assert result() is None


@pytest.mark.parametrize("error", [ModelError("empty"), RuntimeError("broken")])
def test_failed_job_releases_results(store, no_collector, error):
    references = []

    def passes():
        half = Result()
        references.append(weakref.ref(half))
        raise error

    def page():
        context = Result()
        references.append(weakref.ref(context))
        cache(passes, store)()

    with pytest.raises(ModelError) as info:
        page()
    del info
    error.__traceback__ = None  # this list of parameters holds it
    assert [reference() for reference in references] == [None, None]
