"""One computation shared by all threads that wait for it."""

import threading
import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from logging import ERROR, getLogger
from typing import Any

from viz.background import Pool, where
from viz.cancellation import checked_by
from viz.errors import ModelError
from viz.scheduler.fair_queue import FairQueue, Ticket, mark_arrival

PATIENCE = 2.0
"""Seconds that a computation without waiters continues: a click on the same text finds it again."""

current_job: ContextVar["Job | None"] = ContextVar("current_job", default=None)
"""The job that this thread is computing."""
_log = getLogger(__name__)


class Job:
    """A computation in progress and the number of threads that wait for it."""

    def __init__(self, seconds: float, turns: FairQueue, raise_if_disconnected: Callable[[], None]) -> None:
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None
        self.ticket: Ticket | None = None
        self.later: tuple[float, Callable[[], object]] | None = None
        """A time and a callback: the computing thread calls it once if the job is still running then."""
        self.n_waiting, self.unclaimed_since, self.abandoned = 0, 0.0, False
        self._seconds, self._until, self._turns, self._raise_if_disconnected = (
            seconds,
            float("inf"),
            turns,
            raise_if_disconnected,
        )
        self._parts = dict[Hashable, tuple[Hashable, Any]]()

    def run(self, work: Callable[[], Any], begin: Callable[[], object] | None = None) -> None:
        """Compute, after ``begin``; store an error for the waiters, and log it without any of the user's text."""
        self._until = time.monotonic() + self._seconds
        token = current_job.set(self)
        try:
            with checked_by(self.check):
                if begin:
                    begin()
                self.value = work()
        except ValueError as error:
            # The message of such an error is meant for the user.
            self.error = without_frames(error)
        except Exception as error:
            _log.log(ERROR, "a computation failed: %s", where(error))
            self.error = ModelError("failed", kind=type(error).__name__)
        except BaseException:
            # The user whose thread computes has disconnected; the other waiters start again.
            self.abandoned = True
            raise
        finally:
            current_job.reset(token)
            self._parts.clear()

    def begin_in(self, threads: Pool, work: Callable[[], object]) -> None:
        """Have a thread do the work; without one the job ends by an error, and the queue gives its place back."""

        def run() -> object:
            if self.ticket:
                mark_arrival(self.ticket.arrival)
            return self.done.is_set() or work()

        try:
            # Python's pool may do later what it refuses now.
            threads.submit(run)
        except Exception as error:
            self.error = ModelError("failed", kind=type(error).__name__)
            self.done.set()
            raise

    def part(self, key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        """Return an intermediate result that is cached in its own right, by a key with the function first.

        The job holds the last one of each function: when memory is short nothing is cached, and the forward pass that
        all layers of a wall share would be computed for each of them.
        """
        if key[0] not in self._parts or self._parts[key[0]][0] != key:
            # Both results at once would take twice the memory.
            self._parts.pop(key[0], None)
            self._parts[key[0]] = key, make()
        return self._parts[key[0]][1]

    def check(self) -> None:
        """Check between layers whether to continue.

        Raises:
            ModelError: "late" if it takes too long or has no waiters; "closing" if the server stops.
        """
        if self._turns.is_closed:
            raise ModelError("closing")
        if self.n_waiting == 1:
            self._raise_if_disconnected()
        now = time.monotonic()
        if self.later and now > self.later[0]:
            self.later[1]()
            self.later = None
        self.abandoned = not self.n_waiting and now > self.unclaimed_since + PATIENCE
        if now > self._until or self.abandoned:
            raise ModelError("late", seconds=round(self._seconds))

    def result(self) -> Any:
        """Return the value, or raise the error of the computation."""
        if self.error is None:
            return self.value
        try:
            raise self.error.with_traceback(None)
        finally:
            # The error's traceback holds this frame, which would hold the error.
            del self


def without_frames(error: BaseException) -> BaseException:
    """Return the error without the traceback frames that hold tensors."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
