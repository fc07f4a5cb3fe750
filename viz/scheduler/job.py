"""One computation, for all who wait for it."""

import threading
import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from logging import ERROR, getLogger
from traceback import walk_tb
from typing import Any

from viz.cancellation import checked_by
from viz.errors import ModelError
from viz.scheduler.fair_queue import Ticket, Turns, came

PATIENCE = 2.0
"""Seconds a computation nobody waits for goes on: a click on the same text comes back to it."""

at_work: ContextVar["Job | None"] = ContextVar("at_work", default=None)
"""The job that this thread computes."""
_log = getLogger(__name__)


class Job:
    """One computation on its way, and how many wait for it."""

    def __init__(self, seconds: float, turns: Turns, called_away: Callable[[], None]) -> None:
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None
        self.ticket: Ticket | None = None
        self.later: tuple[float, Callable[[], object]] | None = None
        """When this is still at work at that time, something is to be done, once, by the thread that computes it."""
        self.wanted, self.alone_since, self.abandoned = 0, 0.0, False
        self._seconds, self._until, self._turns, self._called_away = seconds, float("inf"), turns, called_away
        self._parts = dict[Hashable, tuple[Hashable, Any]]()

    def run(self, work: Callable[[], Any]) -> None:
        """Compute; what goes wrong is kept for those who wait, and said without a word of theirs in the log."""
        self._until = time.monotonic() + self._seconds
        token = at_work.set(self)
        try:
            with checked_by(self.check):
                self.value = work()
        except ValueError as error:  # a sentence for the visitor
            self.error = without_frames(error)
        except Exception as error:
            _log.log(ERROR, "a computation failed: %s", where(error))
            self.error = ModelError("failed", kind=type(error).__name__)
        except BaseException:  # whoever computes it was called away; others begin again
            self.abandoned = True
            raise
        finally:
            at_work.reset(token)
            self._parts.clear()

    def part(self, key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        """What this computation needs that is kept, too, as a result of its own.

        Of each function the last one stays with it: where memory is short nothing is kept, and the pass that all layers
        of a wall are cut out of was made for every one of them.

        Args:
            key: all that it depends on, the function first.
            make: finds it, or computes it.
        """
        if key[0] not in self._parts or self._parts[key[0]][0] != key:
            self._parts.pop(key[0], None)  # both at once would take twice as much
            self._parts[key[0]] = key, make()
        return self._parts[key[0]][1]

    def check(self) -> None:
        """Asked between layers.

        Raises:
            ModelError: "late", if it takes too long or nobody waits for it any more; "closing".
        """
        if self._turns.closed:
            raise ModelError("closing")
        if self.wanted == 1:
            self._called_away()
        now = time.monotonic()
        if self.later and now > self.later[0]:
            self.later[1]()
            self.later = None
        self.abandoned = not self.wanted and now > self.alone_since + PATIENCE
        if now > self._until or self.abandoned:
            raise ModelError("late", seconds=round(self._seconds))

    def result(self) -> Any:
        """What was computed, or why not."""
        if self.error is None:
            return self.value
        try:
            raise self.error.with_traceback(None)
        finally:
            del self  # the error's traceback holds this frame, which would hold the error


def for_whom() -> float:
    """When the visitor came for whom this thread asks, or computes."""
    job = at_work.get()
    return job.ticket.came if job and job.ticket else came()


def without_frames(error: BaseException) -> BaseException:
    """The same error, no longer holding what was computed where it arose."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def where(error: BaseException, calls: int = 6) -> str:
    """What went wrong and where in the code, the innermost call first; not the message, which may quote a visitor."""
    lines = [f"{frame.f_code.co_filename}:{line}" for frame, line in walk_tb(error.__traceback__)]
    return " in ".join([type(error).__name__, *reversed(lines[-calls:])])
