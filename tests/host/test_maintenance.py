"""Maintenance returns unused memory to the system."""

import asyncio
import json
import os
import threading
import time
from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from bench.load.watch import memory_of
from tests import SAFETY_NET
from tests.coroutines import finish
from viz import background, limits
from viz.frame.queue_notice import make_stores
from viz.host import maintenance, readiness
from viz.host.sockets import Sockets
from viz.host.uploads import Uploads
from viz.scheduler import passage
from viz.scheduler.cache import CachedFunction, Store
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import FairQueue, mark_arrival, wait_silently
from viz.streamlit_internals import hosted


@pytest.mark.skipif(maintenance.trimmer() is abs, reason="needs glibc: elsewhere nothing is handed back, as on a Mac")
def test_pages_between_what_stays_go_back(monkeypatch):
    """The lifespan does it: a tenth of many small tensors stays, and pins nearly all of the rest."""
    monkeypatch.setattr(maintenance, "TIDY_SECONDS", 0.05)
    monkeypatch.setattr(readiness, "warm", lambda: None)
    monkeypatch.setattr(readiness, "FOR_PROCESS", ())  # other tests run in this process
    monkeypatch.setattr(readiness.Readiness, "_watch_for_the_end", lambda _: None)
    tensors = [torch.ones(5_000) for _ in range(6_000)]  # 20 kB each, 120 MB
    tensors = tensors[::10]
    before = memory_of(os.getpid())

    async def serve() -> None:
        async with readiness.Readiness(Sockets()).lifespan(None):
            await asyncio.sleep(0.5)

    finish(serve())
    assert before - memory_of(os.getpid()) > 60
    assert len(tensors) == 600


STEPS = (
    (maintenance, "end_lost_sessions", "end of lost sessions"),
    (Uploads, "tidy", "deletion of uploads"),
    (maintenance.Maintenance, "tidy", "garbage collection"),
    (maintenance.Maintenance, "free_memory", "memory ceiling"),
    (Ceiling, "has_room", "memory ceiling"),
    (FairQueue, "_admit", "queue"),
    (asyncio, "to_thread", "garbage collection"),
)


@pytest.mark.parametrize(("owner", "name", "work"), STEPS)
def test_failed_step_stops_no_other(owner, name, work, monkeypatch, raise_once):
    """It is logged once, and the next rounds do everything again."""
    monkeypatch.setattr(maintenance, "TIDY_SECONDS", 0.001)
    monkeypatch.setattr(maintenance.gc, "collect", lambda: 0)
    ceiling = Ceiling(lambda: 1_000, 300, lambda: 900)  # memory is short
    store = Store(1_000_000, FairQueue(2, 7, ceiling=ceiling), seconds=60)
    keeper = maintenance.Maintenance(store, ceiling, Uploads(), queues=[store.turns])
    for _ in range(3):  # of two workers one visitor has to wait
        store.turns.enter("quick", print)
    log = raise_once(owner, name)
    calls = Counter[str]()
    for step_owner, step, _ in STEPS:
        monkeypatch.setattr(step_owner, step, counting(calls, step, getattr(step_owner, step)))

    async def keep() -> None:
        async with asyncio.timeout(60):
            task = asyncio.create_task(keeper.run())
            while min(calls[step] for _, step, _ in STEPS) < 3:
                await asyncio.sleep(0.01)
        assert not keeper.is_stalled
        task.cancel()

    finish(keep())
    assert log() == [f"{work} failed: FaultError"]
    assert keeper.is_stalled, "it has ended"


def counting(calls: Counter, name: str, function: Any) -> Any:
    def call(*args: Any) -> Any:
        calls[name] += 1
        return function(*args)

    return call


@pytest.mark.parametrize("fault", ["ended", "stuck"])
def test_health_without_maintenance_is_503(fault, monkeypatch):
    """Nothing keeps the memory below its ceiling then: the server has to be restarted."""
    ready = readiness.Readiness(Sockets(), stores=make_stores())
    ready.missing = []
    monkeypatch.setattr(ready.pulse, "answers", answers)

    async def ask() -> list[tuple[int, bytes]]:
        answers = [await ready._alive(None), await ready._ready(None)]
        return [(answer.status_code, answer.body) for answer in answers]

    assert [status for status, _ in finish(ask())] == [200, 200]
    if fault == "ended":
        monkeypatch.setattr(maintenance, "CHECK_SECONDS", None)
        with pytest.raises(TypeError):
            finish(ready.maintenance.run())
    else:
        ready.maintenance.last_round = time.monotonic() - maintenance.STALLED_SECONDS - 1
    assert finish(ask()) == [
        (503, b"Nothing keeps the memory of this server below its ceiling any more."),
        (503, b'{"ready":false,"waiting_for":["maintenance"]}'),
    ]


@pytest.mark.parametrize("queue", ["pages", "turns"])
def test_readiness_says_what_is_stuck(queue, monkeypatch):
    """A queue that admits nobody, or a system without a free thread: users are sent elsewhere until it is over."""
    ready = readiness.Readiness(Sockets(), stores=make_stores())
    ready.missing = []
    monkeypatch.setattr(ready.pulse, "answers", answers)
    monkeypatch.setattr(passage, "PATIENCE", 0.01)

    def ask() -> list[str]:
        """Return the second answer, which is by the check that the first one begins."""
        for _ in range(2):
            answer = finish(ready._ready(None))
            if thread := ready.passage._thread:
                thread.join(SAFETY_NET)
        return json.loads(answer.body)["waiting_for"]

    assert ask() == []
    with monkeypatch.context() as faults:
        faults.setattr(getattr(ready.stores, queue), "_admit", lambda: {}["every time"])
        assert ask() == ["turns"]
    assert ask() == []
    with monkeypatch.context() as faults:
        faults.setattr(background, "Thread", Unstarted)
        assert ask() == ["threads"]
    assert ask() == []


class Unstarted(threading.Thread):
    """A thread for which the system has no room."""

    def start(self) -> None:
        raise RuntimeError("can't start new thread")


async def answers() -> bool:
    return True


def test_failed_shutdown_keeps_no_other_session(raise_once):
    """Sessions end each by itself, also those that Streamlit's storage evicts."""
    shutdowns = []
    session = type("Session", (), {"shutdown": lambda session: shutdowns.append(session.id)})
    storage = MemorySessionStorage()
    log = raise_once(session, "shutdown")
    for name in "abc":
        lost = session()
        lost.id = name
        storage.save(SimpleNamespace(session=lost))
    hosted._expire_sessions(storage, 0)
    assert (shutdowns, log()) == (["b", "c"], ["end of lost sessions failed: FaultError"])


def test_lost_sessions_expire(monkeypatch):
    """Streamlit lets go of them when another session is lost: those of the last users would never end."""
    shutdowns, storage, now = [], MemorySessionStorage(), [0.0]
    storage._cache = type(storage._cache)(maxsize=2, ttl=60, timer=lambda: now[0])
    manager = SimpleNamespace(_session_storage=storage)
    running = SimpleNamespace(exists=lambda: True, instance=lambda: SimpleNamespace(_session_mgr=manager))
    monkeypatch.setattr(hosted, "Runtime", running)
    for name in "ab":
        storage.save(
            SimpleNamespace(session=SimpleNamespace(id=name, shutdown=lambda name=name: shutdowns.append(name)))
        )
    hosted.end_lost_sessions()
    assert shutdowns == []
    now[0] = 61.0
    hosted.end_lost_sessions()
    assert shutdowns == ["a", "b"] and not storage._cache._data


def test_free_memory_admits_waiting():
    in_use, starts = [100], []
    ceiling = Ceiling(lambda: 1_000, 300, lambda: in_use[0])
    store = Store(1_000_000, FairQueue(2, 7, ceiling=ceiling), seconds=60)
    read = CachedFunction(lambda n: "x" * 10_000, lambda: store, "pass", wait_silently)
    for n in range(3):
        read(n)
    before, in_use[0] = store.bytes, 900
    with ceiling.active_user(0.0):
        store.turns.enter("pass", lambda: starts.append("later"))
        keeper = maintenance.Maintenance(store, ceiling, Uploads())
        keeper.free_memory()
        assert 0 < store.bytes < before and starts == []
        in_use[0] = 100
        keeper.free_memory()
    assert starts == ["later"]


def test_free_memory_keeps_oldest_users_results():
    ceiling = Ceiling(lambda: 1_000_000, 0, lambda: 2_000_000)
    store = Store(10**6, FairQueue(2, 7, ceiling=ceiling), seconds=60, protect_after_seconds=0)
    with ceiling.active_user(mark_arrival()):
        CachedFunction(lambda: "x" * 10_000, lambda: store, "pass", wait_silently)()
        n_bytes = store.bytes
        maintenance.Maintenance(store, ceiling, Uploads()).free_memory()
        assert store.bytes == n_bytes > 0
    maintenance.Maintenance(store, ceiling, Uploads()).free_memory()
    assert store.bytes == 0


def test_long_texts_are_evicted_first():
    ceiling = Ceiling(lambda: 1_000_000, 0, lambda: 1_010_000)
    stores = [Store(10**6, FairQueue(2, 7, ceiling=ceiling), seconds=60) for _ in range(2)]
    for number in range(2):
        CachedFunction(lambda: "x" * 10_000, partial(stores.__getitem__, number), "pass", wait_silently)()
    n_bytes = stores[0].bytes
    maintenance.Maintenance(stores[0], ceiling, Uploads(), (stores[1],)).free_memory()
    assert (stores[0].bytes, stores[1].bytes) == (n_bytes, 0)


def test_loaded_model_raises_ceiling(monkeypatch):
    """Its weights, and its tokenizer where that is large; a model that has given way takes them along again."""
    models, stores = SimpleNamespace(bytes=91_000_000), make_stores()
    monkeypatch.setattr(stores, "models", models)
    readiness.set_ceiling(stores)
    assert stores.memory.most() == limits.MEMORY_BYTES
    assert stores.long_texts.most_bytes == 2 * limits.TOKENS * limits.LONG_TOKEN_BYTES
    models.bytes += 402_000_000
    assert stores.memory.most() == limits.MEMORY_BYTES + 402_000_000
    models.bytes -= 402_000_000
    assert stores.memory.most() == limits.MEMORY_BYTES
