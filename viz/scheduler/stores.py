"""The queues, caches and memory ceiling of one app; two apps of a process share none of them."""

import math
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from viz import limits
from viz.scheduler.cache import Store
from viz.scheduler.ceiling import Ceiling
from viz.scheduler.fair_queue import FairQueue, Kind


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Sizes of an app's queues and caches; the environment sets the defaults (viz/limits.py)."""

    passes: int = limits.FORWARD_PASSES
    """Long computations at once."""
    queue: int = limits.QUEUE
    """Computations that may wait."""
    seconds: int = limits.COMPUTATION_SECONDS
    """For one computation."""
    cache_bytes: int = limits.CACHE_BYTES
    """Of cached results, without those of long texts."""
    long_bytes: int = limits.LONG_KEPT_BYTES
    """Of cached results of long texts."""
    models_bytes: int = limits.MODELS_BYTES
    """Of models in memory."""
    memory_bytes: int = limits.MEMORY_BYTES
    """Of the whole process, on a public server."""


class Stores:
    """The queues, caches and memory ceiling of one app. Made before anything that computes is imported.

    ``raise_if_disconnected`` and ``on_wait`` are those of :class:`~viz.scheduler.cache.Store`; ``begin_thread`` is
    called with these stores by a thread that computes for them, before each computation.

    Attributes:
        pages: the queue of page runs.
        memory: the ceiling; a public server sets its value (viz/host/readiness.py).
        turns: the queue of computations.
        models: the models loaded, with a queue of their own.
        results: all other results.
        long_texts: results of long texts, in the queue of computations.
        queues: all of them.
    """

    def __init__(
        self,
        bounds: Bounds | None = None,
        raise_if_disconnected: Callable[[], None] = lambda: None,
        on_wait: Callable[[], AbstractContextManager[None]] = nullcontext,
        begin_thread: Callable[["Stores"], object] = lambda stores: None,
    ) -> None:
        self.bounds = bounds = bounds or Bounds()
        self.pages = FairQueue(limits.PAGES, sys.maxsize)
        self.memory = Ceiling(spare=limits.PASS_BYTES)
        self.turns = FairQueue(bounds.passes + limits.QUICK, bounds.queue, kinds(bounds), self.memory, limits.QUICK)

        def begin() -> None:
            begin_thread(self)

        self.models = Store(
            bounds.models_bytes, FairQueue(1, bounds.queue), bounds.seconds, on_wait=on_wait, begin_thread=begin
        )  # fmt: skip
        self.results = Store(
            bounds.cache_bytes,
            self.turns,
            bounds.seconds,
            raise_if_disconnected,
            on_wait,
            limits.SHORT_SECONDS,
            self.models.storages,
            limits.SMALL_BYTES,
            limits.DEAR_SECONDS,
            begin,
        )
        self.long_texts = Store(
            bounds.long_bytes,
            self.turns,
            limits.LONG_SECONDS,
            raise_if_disconnected,
            on_wait,
            limits.SHORT_SECONDS,
            self.models.storages,
            protect_after_seconds=limits.DEAR_SECONDS,
            begin_thread=begin,
        )
        self.queues = self.pages, self.turns, self.models.turns

    def start_threads(self) -> None:
        """Start all threads that compute, on a public server: when many users come, the system may have none left."""
        for store in (self.models, self.results, self.long_texts):
            store.threads.start()


def kinds(bounds: Bounds) -> dict[str, Kind]:
    """Return the kinds of work with limits of their own, by name."""
    return {
        "sentence": Kind(memory_weight=limits.SENTENCE_PASS_BYTES / limits.PASS_BYTES),
        # Texts of up to 512 tokens take 1 to 4 s each: while users look at sentences, one worker of two is for these.
        "text": Kind(at_once=bounds.passes, max_while_interactive=max(1, bounds.passes - 1)),
        "lesson": Kind(at_once=limits.LESSONS),
        "measure": Kind(at_once=limits.MEASUREMENTS),
        "long": Kind(
            at_once=limits.LONG_PASSES,
            memory_weight=max(1, math.ceil(limits.LONG_TOKENS * limits.LONG_TOKEN_BYTES / limits.PASS_BYTES)),
        ),
        "atlas": Kind(at_once=limits.ATLAS_PASSES, requeue_parts=True),
        "atlas_by_chance": Kind(
            at_once=limits.ATLAS_PASSES,
            requeue_parts=True,
            memory_weight=math.ceil(limits.ATLAS_BYTES / limits.PASS_BYTES),
        ),
    }
