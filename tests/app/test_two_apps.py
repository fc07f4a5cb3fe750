"""Two apps in one process: what one computes, keeps and counts is not the other's."""

import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest

from tests import SAFETY_NET
from tests.host.test_files import Streamlit, ask
from tests.host.test_server import wait
from viz import ROOT, limits
from viz.app import public
from viz.app.make import App, make_app
from viz.errors import ModelError
from viz.frame import compute, queue_notice
from viz.frame.compute import long_texts
from viz.frame.queue_notice import default_stores, make_stores, serve, stores, use
from viz.frame.specs import Mask, Source
from viz.host.readiness import set_ceiling
from viz.scheduler.fair_queue import wait_silently
from viz.scheduler.stores import Bounds

SOURCE = Source(kind="words", text="the cat saw the dog", model="", d_model=12, n_heads=3, n_kv_heads=3)


@pytest.fixture
def apps(monkeypatch: pytest.MonkeyPatch) -> tuple[App, App]:
    """A small app and a large one, both for many users."""
    monkeypatch.setattr(public, "limit_connections", lambda: None)  # those are for all servers of the process
    small = Bounds(passes=1, queue=2, cache_bytes=60_000, memory_bytes=10**9)
    return make_app(hosted=True, bounds=small), make_app(hosted=True, bounds=Bounds(passes=3, queue=7))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that seeded heads have read."""
    read, texts = compute.on_seeded_heads, []

    def count(source, *rest):
        texts.append(source.text)
        return read(source, *rest)

    monkeypatch.setattr(compute, "on_seeded_heads", count)
    return texts


def in_thread(work):
    """Run in a new thread, as Streamlit runs a script, and return its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join(SAFETY_NET)
    return results[0]


def fill(stack, turns, n):
    """Take this many places until the stack is closed."""
    for _ in range(n):
        stack.enter_context(turns.turn("sentence", wait_silently))


def test_result_of_app_unknown_to_other(apps, passes):
    """Each finds its own again."""
    first, second = (app.stores for app in apps)
    results = []
    for app_stores in (first, second, first, second):
        with use(app_stores):
            results.append(compute.read(SOURCE))
    assert passes == [SOURCE.text] * 2
    assert results[0] is results[2] and results[1] is results[3] and results[0] is not results[1]
    key = compute.read.key(SOURCE)
    assert key in first.results and key in second.results and key not in default_stores().results


def test_cache_of_app_evicts_nothing_elsewhere(apps):
    """The small one holds few of the texts, the large one all."""
    first, second = (app.stores for app in apps)
    for number in range(30):
        for app_stores in (first, second):
            with use(app_stores):
                compute.read(
                    Source(kind="words", text=f"the cat saw {number} dogs", d_model=12, n_heads=3, n_kv_heads=3)
                )
    assert 0 < first.results.bytes <= 60_000 < second.results.bytes


def test_full_queue_holds_up_no_other(apps):
    """The first has no place left and two who wait; the second computes, and counts none of that."""
    first, second = (app.stores for app in apps)
    with ExitStack() as stack:
        fill(stack, first.turns, first.turns.places)
        tickets = [first.turns.enter("sentence", lambda: None) for _ in range(2)]
        assert (first.turns.working, first.turns.waiting) == (first.turns.places, 2)
        assert (second.turns.working, second.turns.waiting) == (0, 0)
        assert [app.server.readiness.reasons() for app in apps] == [["warm", "queue"], ["warm"]]
        with use(first), pytest.raises(ModelError, match="2 computations are waiting"):
            compute.read(SOURCE)
        with use(second):
            assert compute.read(SOURCE).tokens.words
        for ticket in tickets:
            first.turns.drop(ticket)


def test_pool_thread_computes_for_its_app(apps, passes):
    """A result that waits is computed by a thread of its store, and so is the result that it is made of."""
    first, second = (app.stores for app in apps)

    def ask_first():
        with use(first):
            return compute.trace(SOURCE, 0, Mask())

    with serve(second):
        with ExitStack() as stack:
            fill(stack, first.turns, first.turns.places)
            asks = threading.Thread(target=ask_first)
            asks.start()
            wait(lambda: first.turns.waiting)
        asks.join(SAFETY_NET)
    assert compute.read.key(SOURCE) in first.results
    assert second.results.bytes == 0 and passes == [SOURCE.text]


def test_memory_ceiling_is_of_one_app(apps):
    """Nor are the limits that depend on it: the longest text, and its cached results."""
    first, second = (app.stores for app in apps)
    set_ceiling(first)
    assert (first.memory.most(), second.memory.most()) == (10**9, float("inf"))
    longest = []
    for app_stores in (first, second):
        with use(app_stores):
            longest.append(long_texts.most_tokens())
    assert longest == [limits.TOKENS, limits.LONGEST]
    assert first.long_texts.most_bytes < second.long_texts.most_bytes == limits.LONG_KEPT_BYTES


def test_metrics_count_by_app(apps):
    """The metrics of each app count its own refusals and connections."""
    first = apps[0]
    guard = first.middleware[0]
    assert ask(guard.cls(Streamlit(), *guard.args, **guard.kwargs), "/unknown", host="a")[0] == 404
    first.server.readiness.sockets.admit("203.0.113.7")
    with use(first.stores):
        compute.read(SOURCE)
    metrics = [{route.path: route for route in app.routes}["/metrics"].endpoint.__self__.text() for app in apps]
    assert 'headlight_refusals_total{rule="unknown"} 1' in metrics[0] and "unknown" not in metrics[1]
    assert "headlight_tabs 1" in metrics[0] and "headlight_tabs 0" in metrics[1]
    assert "headlight_kept_bytes 0" not in metrics[0] and "headlight_kept_bytes 0" in metrics[1]


def test_run_finds_stores_of_served_app(apps, open_app):
    """A run in another thread uses the server's stores; without a server, the default ones."""
    first, second = (app.stores for app in apps)
    assert in_thread(stores) is default_stores()
    before = default_stores().results.bytes
    with serve(second):
        assert in_thread(stores) is second
        assert not open_app("masks", source="words", text="a text of the served app").exception
    assert second.results.bytes > 0 and first.results.bytes == 0
    assert default_stores().results.bytes == before
    assert in_thread(stores) is default_stores()


def test_run_after_server_keeps_app():
    """One that goes on while its server ends gives its turns back where it took them."""
    server_stores = make_stores()

    def run():
        with ExitStack() as stack:
            with serve(server_stores):
                stack.enter_context(queue_notice.writing())
            assert stores() is server_stores and server_stores.pages.working == 1
        return stores()

    assert in_thread(run) is default_stores()
    assert server_stores.pages.working == 0


def test_second_app_is_refused():
    """A run could not know its app."""
    with serve(make_stores()), pytest.raises(RuntimeError, match="another app is served"):
        serve(make_stores()).__enter__()
    assert stores() is default_stores()


IMPORT_ALL = """
import importlib
from pathlib import Path
from viz.frame import queue_notice
made = []
queue_notice.Stores, make = (lambda *args: made.append(1) or make(*args)), queue_notice.Stores
for path in sorted([*Path("viz/frame").rglob("*.py"), *Path("viz/host").rglob("*.py"), *Path("pages").rglob("*.py")]):
    importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
assert not made, "an import made stores"
assert queue_notice.stores() is queue_notice.stores() and len(made) == 1, "made at first use"
"""


@pytest.mark.long
def test_imports_make_no_stores():
    """They are made by make_app, or where something without a server first asks for them."""
    process = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, cwd=ROOT, check=False)
    assert process.returncode == 0, process.stderr
