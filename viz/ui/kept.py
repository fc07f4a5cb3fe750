"""What visitors share: results kept in a bounded memory; equal requests are one computation, done in its turn.

A hit never waits. A miss is computed by whoever asks, if there is a place; else it stands in the line, and a thread of
the store computes it when its turn comes, as long as anybody waits for it.
"""

import inspect
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from viz.ui.jobs import Job, at_work
from viz.ui.sizes import size_of
from viz.ui.turns import Turns, Wait

P = ParamSpec("P")
R = TypeVar("R")
Key = tuple[Hashable, ...]
OVERHEAD = 1_000
"""Bytes counted for an entry beside what it holds."""


class Store:
    """Results by what they were computed from, the least recently used forgotten first.

    Args:
        most_bytes: of all results together. One that is larger by itself is handed out and not kept.
        turns: the line that computations stand in.
        seconds: for one computation.
        called_away: asked between layers by a thread that computes for itself alone; raises if its visitor has gone.
        apart: storages that results share with what lives longer than they do (a model's weights), counted elsewhere.
    """

    def __init__(
        self,
        most_bytes: int,
        turns: Turns,
        seconds: float,
        called_away: Callable[[], None] = lambda: None,
        apart: Callable[[], Iterable[int]] = tuple,
    ) -> None:
        self.most_bytes, self.turns, self.seconds, self.apart = most_bytes, turns, seconds, apart
        self.called_away = called_away
        self.bytes = 0
        self._kept = OrderedDict[Key, tuple[Any, int]]()
        self._staying = dict[Key, tuple[Any, int]]()
        self._jobs = dict[Key, Job]()
        self._making = dict[Key, threading.Event]()
        self._storages: frozenset[int] | None = None
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(turns.places, "computing")

    def __contains__(self, key: Key) -> bool:
        return key in self._kept or key in self._staying

    def holds(self, argument: Hashable) -> bool:
        """Whether anything computed from this is here."""
        with self._lock:
            return any(argument in key[1:] for key in (*self._kept, *self._staying))

    def get(self, key: Key, kind: str, make: Callable[[], Any], wait: Wait) -> Any:
        """The result for this key: kept, on its way already, or computed now.

        Args:
            key: all that the result depends on.
            kind: of work, as :class:`Turns` knows it.
            make: computes it. What it asks of a store itself is part of the same turn.
            wait: returns when the result is there; whatever it raises means that nobody waits here any more.

        Raises:
            ModelError: "crowded", "closing", "late" or "failed".
        """
        while True:
            with self._lock:
                if found := self._find(key):
                    return found[0]
                job, here = (None, True) if at_work.get() else self._join(key, kind, make)
            if job is None:
                return self._make(key, make)
            try:
                assert job.ticket is not None
                if here:
                    self._work(key, job, make)
                else:
                    wait(job.done, job.ticket, self.turns)
            finally:
                self._part(key, job)
            if not job.abandoned:  # by those who waited before; then it is begun again
                return job.result()

    def _find(self, key: Key) -> tuple[Any, int] | None:
        """The result and its bytes, which is now the most recently used one. The lock is held."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        return self._staying.get(key)

    def _join(self, key: Key, kind: str, make: Callable[[], Any]) -> tuple[Job, bool]:
        """The job for a key, with one more who waits for it, and whether its turn is now, here. The lock is held."""
        job, here, me = self._jobs.get(key), False, threading.get_ident()
        if job is None:
            job = new = Job(self.seconds, self.turns, self.called_away)

            def begin() -> None:
                nonlocal here
                if new.ticket is None and threading.get_ident() == me:
                    here = True  # the turn comes at once: no other thread is needed
                else:
                    self._threads.submit(self._work, key, new, make)

            job.ticket = self.turns.enter(kind, begin)
            self._jobs[key] = job
        job.wanted += 1
        return job, here

    def _part(self, key: Key, job: Job) -> None:
        with self._lock:
            job.wanted -= 1
            job.alone_since = time.monotonic()
            if job.wanted == 0 and self._jobs.get(key) is job and job.ticket and self.turns.drop(job.ticket):
                del self._jobs[key]

    def _work(self, key: Key, job: Job, make: Callable[[], Any]) -> None:
        """A turn: compute, let the next one in, wake those who wait."""
        try:
            job.run(partial(self._make, key, make))
        finally:
            with self._lock:
                del self._jobs[key]
            assert job.ticket is not None
            self.turns.leave(job.ticket)
            job.done.set()

    def _make(self, key: Key, make: Callable[[], Any]) -> Any:
        """Compute in this thread, unless another one is at it already: then wait for that."""
        while True:
            with self._lock:
                if found := self._find(key):
                    return found[0]
                others = self._making.get(key)
                if others is None:
                    mine = self._making[key] = threading.Event()
                    break
            others.wait()
        try:
            value = make()
            self._keep(key, value)
            return value
        finally:
            with self._lock:
                del self._making[key]
            mine.set()

    def _keep(self, key: Key, value: Any) -> None:
        size = OVERHEAD + size_of(key, set()) + size_of(value, set(self.apart()))
        with self._lock:
            while self._kept and self.bytes + size > self.most_bytes:
                self.bytes -= self._kept.popitem(last=False)[1][1]
            if self.bytes + size <= self.most_bytes:
                self._kept[key] = value, size
                self.bytes += size
            self._storages = None

    def storages(self) -> frozenset[int]:
        """Where the tensors of what is kept lie; looked up again only when something came or went."""
        with self._lock:
            if self._storages is None:
                seen = set[int]()
                for value, _ in (*self._kept.values(), *self._staying.values()):
                    size_of(value, seen)
                self._storages = frozenset(seen)
            return self._storages

    def pin(self) -> None:
        """What is here now stays: the examples every visitor begins with."""
        with self._lock:
            self._staying.update(self._kept)
            self._kept.clear()

    def forget(self, name: Hashable) -> None:
        """Forget the results whose keys begin with this."""
        with self._lock:
            for values in (self._kept, self._staying):
                for key in [one for one in values if one[0] == name]:
                    self.bytes -= values.pop(key)[1]
            self._storages = None


class Kept(Generic[P, R]):
    """A function whose results are kept in a store, by its arguments: frozen and small, never tensors.

    Args:
        function: what computes them.
        store: where they are kept.
        kind: of work.
        wait: how a caller waits for a result that is not there yet.
    """

    def __init__(self, function: Callable[P, R], store: Store, kind: str, wait: Wait) -> None:
        update_wrapper(self, function)
        self._function, self._store, self._kind, self._wait = function, store, kind, wait
        self._name, self._signature = (function.__module__, function.__qualname__), inspect.signature(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result, shared by all who ask and not to be changed."""
        compute = partial(self._function, *args, **kwargs)
        result: R = self._store.get(self.key(*args, **kwargs), self._kind, compute, self._wait)
        return result

    def key(self, *args: P.args, **kwargs: P.kwargs) -> Key:
        """What the result for these arguments is kept by."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        return self._name, *given.arguments.values()

    def clear(self) -> None:
        """Forget the results of this function."""
        self._store.forget(self._name)
