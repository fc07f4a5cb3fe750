"""What visitors share: results kept in a bounded memory; equal requests are one computation, done in its turn.

A hit never waits. A miss is computed by whoever asks, if there is a place; else it stands in the line, and a thread of
the store computes it when its turn comes, as long as anybody waits for it.
"""

import inspect
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from viz.scheduler.fair_queue import Turns, Wait
from viz.scheduler.job import Job, at_work, for_whom
from viz.scheduler.sizes import Entry, entry_of

P = ParamSpec("P")
R = TypeVar("R")
Key = tuple[Hashable, ...]
LARGE = 8_000_000
"""Bytes of a result that is not kept at all where memory is short; those of a sentence are, for its page asks again."""


class Store:
    """Results by what they were computed from, the least recently used forgotten first.

    Args:
        most_bytes: of all results together. One that is larger by itself is handed out and not kept.
        turns: the line that computations stand in.
        seconds: for one computation.
        called_away: asked between layers by a thread that computes for itself alone; raises if its visitor has gone.
        aside: entered around all waiting, by whoever asks for a result, and around what is computed for long.
        short: seconds after which a computation is long; 0: all are, as is every kind that has fewer places.
        apart: storages that results share with what lives longer than they do (a model's weights), counted elsewhere.
        small: bytes of a result that is not forgotten where memory is short, but only where all are too many.
        dear: seconds that a result took which goes neither for its visitor's next nor, of who came first, there.
        begin_thread: called by each thread of the store when it starts.
    """

    def __init__(
        self,
        most_bytes: int,
        turns: Turns,
        seconds: float,
        called_away: Callable[[], None] = lambda: None,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
        short: float = 0,
        apart: Container[int] = (),
        small: int = 0,
        dear: float = math.inf,
        begin_thread: Callable[[], object] | None = None,
    ) -> None:
        self.most_bytes, self.turns, self.seconds, self.apart = most_bytes, turns, seconds, apart
        self.called_away, self.aside, self.short, self.small, self.dear = called_away, aside, short, small, dear
        self.bytes = 0
        self._kept = OrderedDict[Key, Entry]()
        self._used_by = dict[Key, float]()
        """When the visitor came who used a result last."""
        self._staying = dict[Key, Entry]()
        self._holders = Counter[int]()
        self._jobs = dict[Key, Job]()
        self._making = dict[Key, threading.Event]()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(turns.places, "computing", begin_thread)

    def __contains__(self, key: Key) -> bool:
        return key in self._kept or key in self._staying

    def holds(self, argument: Hashable) -> bool:
        """Whether anything computed from this is here."""
        with self._lock:
            return any(argument in key[1:] for key in (*self._kept, *self._staying))

    def get(self, key: Key, kind: "str | Callable[[Key], str]", make: Callable[[], Any], wait: Wait) -> Any:
        """The result for this key: kept, on its way already, or computed now.

        Args:
            key: all that the result depends on.
            kind: of work, as :class:`Turns` knows it, or what tells it from the key; a hit does not ask.
            make: computes it. What it asks of a store itself is part of the same turn.
            wait: returns when the result is there; whatever it raises means that nobody waits here any more.

        Raises:
            ModelError: "crowded", "closing", "late" or "failed".
        """
        if whole := at_work.get():
            return whole.part(key, partial(self._make, key, make))
        with self._lock:
            if found := self._find(key):
                return found.value
        kind = kind if isinstance(kind, str) else kind(key)
        while True:
            with self._lock:
                if found := self._find(key):
                    return found.value
                job, here = self._join(key, kind, make)
            with ExitStack() as stack:
                step_aside = partial(stack.enter_context, self.aside())
                try:
                    assert job.ticket is not None
                    if here and self.short and not self.turns.is_long(kind):
                        job.later = time.monotonic() + self.short, step_aside
                    else:
                        step_aside()
                    if here:
                        self._work(key, job, make)
                    else:
                        wait(job.done, job.ticket, self.turns)
                finally:
                    self._part(key, job)
            if not job.abandoned:  # by those who waited before; then it is begun again
                try:
                    return job.result()
                finally:
                    del job  # it holds an error, whose traceback holds this frame and all that the page computed

    def _find(self, key: Key) -> Entry | None:
        """A result, which is now the most recently used one. The lock is held."""
        if key in self._kept:
            self._kept.move_to_end(key)
            self._used_by[key] = for_whom()
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
        else:
            assert job.ticket is not None
            self.turns.hasten(job.ticket)
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
                    return found.value
                others = self._making.get(key)
                if others is None:
                    mine = self._making[key] = threading.Event()
                    break
            others.wait()
        try:
            began = time.monotonic()
            value = make()
            self._keep(key, value, time.monotonic() - began)
            return value
        finally:
            with self._lock:
                del self._making[key]
            mine.set()

    def _keep(self, key: Key, value: Any, seconds: float) -> None:
        entry = entry_of(key, value, seconds, self.apart)
        if entry.size > LARGE and seconds < self.dear and not self.turns.ceiling.has_room():
            return  # it would go with the next look at how much memory there is, and be too much until then
        with self._lock:
            oldest = self._may_go(for_whom())
            while (over := self.bytes + self._added_by(entry) > self.most_bytes) and (forgotten := next(oldest, None)):
                self._drop(forgotten)
            if not over:
                self.bytes += self._added_by(entry)
                self._holders.update(entry.storages.keys())
                self._kept[key] = entry
                self._used_by[key] = for_whom()

    def _added_by(self, entry: Entry) -> int:
        """Bytes that are not here already: results share tensors, a head's map with its layer's. The lock is held."""
        return entry.own + sum(size for at, size in entry.storages.items() if at not in self._holders)

    def _may_go(self, came: float | None) -> Iterator[Key]:
        """The least recently used first, without what took long and was last used by the visitor who came then."""
        for key, entry in list(self._kept.items()):
            if entry.seconds < self.dear or self._used_by[key] != came or came == math.inf:  # nobody's stays for nobody
                yield key

    def _drop(self, key: Key) -> None:
        """Forget and uncount a result, and the tensors that nothing else here holds. The lock is held."""
        self._used_by.pop(key, None)
        entry = self._kept.pop(key, None) or self._staying.pop(key)
        self._holders.subtract(entry.storages.keys())
        gone = [at for at in entry.storages if not self._holders[at]]
        self.bytes -= entry.own + sum(entry.storages[at] for at in gone)
        for at in gone:
            del self._holders[at]

    @property
    def storages(self) -> Container[int]:
        """Where the tensors of what is kept lie; always up to date."""
        return self._holders.keys()

    def pin(self) -> None:
        """What is here now stays: the examples every visitor begins with."""
        with self._lock:
            self._staying.update(self._kept)
            self._kept.clear()
            self._used_by.clear()

    def shrink(self, n_bytes: float, first: float | None = None) -> None:
        """Forget results, the least recently used first, until so many bytes are no longer kept here.

        Small ones stay: to forget them gives back nothing, and an atlas is made of dozens that took a second each; and
        what the visitor who came ``first`` would have to wait for again.
        """
        with self._lock:
            until = self.bytes - n_bytes
            for key in self._may_go(first):
                if self.bytes <= until:
                    break
                if self._kept[key].size > self.small:
                    self._drop(key)

    def forget(self, name: Hashable) -> None:
        """Forget the results whose keys begin with this."""
        with self._lock:
            for values in (self._kept, self._staying):
                for key in [one for one in values if one[0] == name]:
                    self._drop(key)


class Kept(Generic[P, R]):
    """A function whose results are kept in a store, by its arguments: frozen and small, never tensors.

    Args:
        function: what computes them.
        store: where they are kept; or a function that finds it whenever a result is asked for.
        kind: of work, or what tells it from a key.
        wait: how a caller waits for a result that is not there yet.
    """

    def __init__(
        self,
        function: Callable[P, R],
        store: Store | Callable[[], Store],
        kind: str | Callable[[Key], str],
        wait: Wait,
    ) -> None:
        update_wrapper(self, function)
        self._function, self._kind, self._wait = function, kind, wait
        self._store: Callable[[], Store] = (lambda: store) if isinstance(store, Store) else store
        self._name, self._signature = (function.__module__, function.__qualname__), inspect.signature(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result, shared by all who ask and not to be changed."""
        compute = partial(self._function, *args, **kwargs)
        key = self.key(*args, **kwargs)
        result: R = self._store().get(key, self._kind, compute, self._wait)
        return result

    def key(self, *args: P.args, **kwargs: P.kwargs) -> Key:
        """What the result for these arguments is kept by."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        return self._name, *given.arguments.values()

    def clear(self) -> None:
        """Forget the results of this function."""
        self._store().forget(self._name)
