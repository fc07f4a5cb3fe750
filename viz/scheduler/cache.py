"""A result cache shared by all users, bounded in bytes; equal requests are one computation.

A hit never waits. A miss is computed by the requesting thread if a worker is free; else it is queued, and a thread of
the store computes it when it is admitted, as long as a request waits for it.
"""

import inspect
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from viz.background import Pool
from viz.scheduler.fair_queue import FairQueue, Wait, thread_arrival
from viz.scheduler.job import Job, current_job
from viz.scheduler.sizes import Entry, make_entry

P = ParamSpec("P")
R = TypeVar("R")
Key = tuple[Hashable, ...]
LARGE = 8_000_000
"""Bytes from which a result is not cached when memory is short; a sentence's is smaller, and its page asks again."""


class Store:
    """A least-recently-used cache bounded in bytes, with a queue for its computations.

    Args:
        most_bytes: of all results. A single larger result is returned and not cached.
        turns: the queue of computations.
        seconds: for one computation.
        raise_if_disconnected: called between layers by a thread without other waiters; raises if the user left.
        on_wait: a context manager entered by the requesting thread around waiting and around long computations.
        quick_seconds: after which a computation is long; with 0 all are. Kinds with fewer workers always are.
        foreign_storages: storages counted elsewhere that results share (a model's weights).
        keep_below_bytes: smaller results are not evicted when memory is short, only when the cache is full.
        protect_after_seconds: results that took longer are not evicted for the same user's next request nor, for the
            oldest user, when memory is short.
        begin_thread: called by a thread of the store before each computation.
    """

    def __init__(
        self,
        most_bytes: int,
        turns: FairQueue,
        seconds: float,
        raise_if_disconnected: Callable[[], None] = lambda: None,
        on_wait: Callable[[], AbstractContextManager[None]] = nullcontext,
        quick_seconds: float = 0,
        foreign_storages: Container[int] = (),
        keep_below_bytes: int = 0,
        protect_after_seconds: float = math.inf,
        begin_thread: Callable[[], object] = lambda: None,
    ) -> None:
        self.most_bytes, self.turns, self.seconds, self.foreign_storages = most_bytes, turns, seconds, foreign_storages
        self.raise_if_disconnected, self.on_wait, self.quick_seconds = raise_if_disconnected, on_wait, quick_seconds
        self.keep_below_bytes, self.protect_after_seconds = keep_below_bytes, protect_after_seconds
        self.bytes = 0
        self._entries = OrderedDict[Key, Entry]()
        self._last_user = dict[Key, float]()
        """Arrival time of the user who used a result last."""
        self._pinned = dict[Key, Entry]()
        self._storage_counts = Counter[int]()
        self._jobs = dict[Key, Job]()
        self._in_progress = dict[Key, threading.Event]()
        self._lock = threading.Lock()
        self.threads, self._begin_thread = Pool("computing", turns.places), begin_thread

    def __contains__(self, key: Key) -> bool:
        return key in self._entries or key in self._pinned

    def holds(self, argument: Hashable) -> bool:
        """Return whether a result with this argument is cached."""
        with self._lock:
            return any(argument in key[1:] for key in (*self._entries, *self._pinned))

    def get(self, key: Key, kind: "str | Callable[[Key], str]", make: Callable[[], Any], wait: Wait) -> Any:
        """Return the result for this key: cached, already in progress, or computed now.

        Args:
            key: everything the result depends on.
            kind: of work, as in :class:`FairQueue`, or a function that returns it for the key, called on a miss only.
            make: computes it. Its own requests to a store belong to the same turn.
            wait: returns when the result is there; if it raises, this thread no longer waits.

        Raises:
            ModelError: "crowded", "closing", "late" or "failed".
        """
        if outer_job := current_job.get():
            return outer_job.part(key, partial(self._make, key, make))
        while True:
            with self._lock:
                if entry := self._look_up(key):
                    return entry.value
                kind = kind if isinstance(kind, str) else kind(key)
                job, computes_here = self._join_job(key, kind, make)
            with ExitStack() as stack:
                start_waiting = partial(stack.enter_context, self.on_wait())
                try:
                    assert job.ticket is not None
                    if not computes_here:
                        start_waiting()
                        wait(job.done, job.ticket, self.turns)
                    elif self.quick_seconds and not self.turns.is_long(kind):
                        job.later = time.monotonic() + self.quick_seconds, start_waiting
                        self._work(key, job, make)
                    else:
                        self._work(key, job, make, start_waiting)
                finally:
                    self._leave_job(key, job)
            if not job.abandoned:
                try:
                    return job.result()
                finally:
                    # The traceback of its error holds this frame and every result of the page.
                    del job

    def _look_up(self, key: Key) -> Entry | None:
        """Return a cached entry and mark it as used last. The lock is held."""
        if key in self._entries:
            self._entries.move_to_end(key)
            self._last_user[key] = thread_arrival()
            return self._entries[key]
        return self._pinned.get(key)

    def _join_job(self, key: Key, kind: str, make: Callable[[], Any]) -> tuple[Job, bool]:
        """Join or create the job for a key; also return whether this thread computes it now. The lock is held."""
        job, computes_here, this_thread = self._jobs.get(key), False, threading.get_ident()
        if job is None:
            job = new = Job(self.seconds, self.turns, self.raise_if_disconnected)

            def begin() -> None:
                nonlocal computes_here
                if new.ticket is None and threading.get_ident() == this_thread:
                    computes_here = True
                else:
                    new.begin_in(self.threads, partial(self._work, key, new, make, self._begin_thread))

            job.ticket = self.turns.enter(kind, begin)
            self._jobs[key] = job
        else:
            assert job.ticket is not None
            self.turns.promote(job.ticket)
        job.n_waiting += 1
        return job, computes_here

    def _leave_job(self, key: Key, job: Job) -> None:
        with self._lock:
            job.n_waiting -= 1
            job.unclaimed_since = time.monotonic()
            is_over = job.done.is_set() or (job.n_waiting == 0 and job.ticket and self.turns.drop(job.ticket))
            if is_over and self._jobs.get(key) is job:
                del self._jobs[key]

    def _work(self, key: Key, job: Job, make: Callable[[], Any], begin: Callable[[], object] | None = None) -> None:
        """Compute in a turn, admit the next ticket, wake the waiters."""
        try:
            job.run(partial(self._make, key, make), begin)
        finally:
            with self._lock:
                self._jobs.pop(key, None)
            assert job.ticket is not None
            self.turns.leave(job.ticket)
            job.done.set()

    def _make(self, key: Key, make: Callable[[], Any]) -> Any:
        """Compute in this thread, or wait for another thread that computes the same."""
        while True:
            with self._lock:
                if entry := self._look_up(key):
                    return entry.value
                running = self._in_progress.get(key)
                if running is None:
                    finished = self._in_progress[key] = threading.Event()
                    break
            running.wait()
        try:
            began = time.monotonic()
            value = make()
            self._store_result(key, value, time.monotonic() - began)
            return value
        finally:
            with self._lock:
                del self._in_progress[key]
            finished.set()

    def _store_result(self, key: Key, value: Any, seconds: float) -> None:
        entry = make_entry(key, value, seconds, self.foreign_storages)
        if entry.size > LARGE and seconds < self.protect_after_seconds and not self.turns.ceiling.has_room():
            # The next maintenance would evict it, and until then it would take too much memory.
            return
        with self._lock:
            added = self._added_bytes(entry)
            over = self.bytes + added - self.most_bytes
            for victim in self._evictable(thread_arrival()) if over > 0 else ():
                self._evict(victim)
                if self.bytes + (added := self._added_bytes(entry)) <= self.most_bytes:
                    break
            if self.bytes + added <= self.most_bytes:
                self.bytes += added
                self._storage_counts.update(entry.storages.keys())
                self._entries[key] = entry
                self._last_user[key] = thread_arrival()

    def _added_bytes(self, entry: Entry) -> int:
        """Return the bytes an entry would add: results share tensors (a head's map, its layer's). The lock is held."""
        return entry.other_bytes + sum(size for at, size in entry.storages.items() if at not in self._storage_counts)

    def _evictable(self, arrival: float | None) -> Iterator[Key]:
        """Yield the keys that may be evicted, least recently used first; skip long results last used by this user."""
        for key, entry in list(self._entries.items()):
            if entry.seconds < self.protect_after_seconds or self._last_user[key] != arrival or arrival == math.inf:
                yield key

    def _evict(self, key: Key) -> None:
        """Evict a result, and subtract the tensors that no other entry holds. The lock is held."""
        self._last_user.pop(key, None)
        entry = self._entries.pop(key, None) or self._pinned.pop(key)
        self._storage_counts.subtract(entry.storages.keys())
        freed = [at for at in entry.storages if not self._storage_counts[at]]
        self.bytes -= entry.other_bytes + sum(entry.storages[at] for at in freed)
        for at in freed:
            del self._storage_counts[at]

    @property
    def storages(self) -> Container[int]:
        """Storage addresses of all cached tensors, as a live view."""
        return self._storage_counts.keys()

    def pin(self) -> None:
        """Keep all current results for good: the examples every user begins with."""
        with self._lock:
            self._pinned.update(self._entries)
            self._entries.clear()
            self._last_user.clear()

    def shrink(self, n_bytes: float, first: float | None = None) -> None:
        """Evict results, least recently used first, until this many bytes are free.

        Small results stay: evicting them frees little, and an atlas is made of dozens that took a second each. Long
        results of the user who arrived at ``first`` stay too.
        """
        with self._lock:
            until = self.bytes - n_bytes
            for key in self._evictable(first):
                if self.bytes <= until:
                    break
                if self._entries[key].size > self.keep_below_bytes:
                    self._evict(key)

    def forget(self, name: Hashable) -> None:
        """Evict the results whose keys begin with this name."""
        with self._lock:
            for values in (self._entries, self._pinned):
                for key in [key for key in values if key[0] == name]:
                    self._evict(key)


class CachedFunction(Generic[P, R]):
    """A function with cached results, keyed by its arguments: frozen and small, never tensors.

    ``store`` returns the cache at each request, ``kind`` is of work, or a function from a key to it, and ``wait``
    blocks a caller until the result is there.
    """

    def __init__(
        self, function: Callable[P, R], store: Callable[[], Store], kind: str | Callable[[Key], str], wait: Wait
    ) -> None:
        update_wrapper(self, function)
        self._function, self._store, self._kind, self._wait = function, store, kind, wait
        self._name, self._signature = (function.__module__, function.__qualname__), inspect.signature(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result; it is shared by all callers and must not be changed."""
        compute = partial(self._function, *args, **kwargs)
        result: R = self._store().get(self.key(*args, **kwargs), self._kind, compute, self._wait)
        return result

    def key(self, *args: P.args, **kwargs: P.kwargs) -> Key:
        """Return the cache key for these arguments."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._name, *bound.arguments.values()

    def clear(self) -> None:
        """Evict the results of this function."""
        self._store().forget(self._name)
