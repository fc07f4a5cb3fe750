"""Work that outlives a request: threads and callbacks that all users share, begun, contained, logged and counted.

No other module starts a thread of its own; ``tests/host/test_background.py`` lists everything that outlives a request.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from logging import ERROR, getLogger
from threading import Event, Thread, Timer
from traceback import walk_tb

failures = Counter[str]()
"""Errors by the name of the work; ``/metrics`` has them."""
_logged_places = dict[str, str]()
_log = getLogger(__name__)


def where(error: BaseException, calls: int = 6) -> str:
    """Return an error's type and code location, innermost call first; its message may quote a user's text."""
    places = [f"{frame.f_code.co_filename}:{line}" for frame, line in walk_tb(error.__traceback__)]
    return " in ".join([type(error).__name__, *reversed(places[-calls:])])


@contextmanager
def contained(name: str) -> Iterator[None]:
    """End the body of the ``with`` at an error: count it, and log the first of equal ones in a row."""
    try:
        yield
        _logged_places.pop(name, None)
    except Exception as error:
        failures[name] += 1
        place = where(error)
        if _logged_places.get(name) != place:
            _logged_places[name] = place
            _log.log(ERROR, "%s failed: %s", name, place)


async def contain(name: str, work: Awaitable[object]) -> None:
    """Await the work of a task; an error ends the task and nothing else."""
    with contained(name):
        await work


def start_thread(name: str, work: Callable[[], object], seconds: float = 0) -> Thread | None:
    """Start a thread that ends with the process, after some seconds; return None where the system has no more threads.

    An error ends the thread and nothing else.
    """

    def run() -> None:
        with contained(name):
            work()

    thread = Timer(seconds, run) if seconds else Thread(target=run)
    thread.name, thread.daemon = name, True
    with contained(name):
        thread.start()
        return thread
    return None


class Pool(ThreadPoolExecutor):
    """Threads for work in which other threads wait."""

    def __init__(self, name: str, n: int) -> None:
        super().__init__(n, name)
        self._n = n

    def start(self) -> None:
        """Start all threads now: later the system may have none left."""
        may_end = Event()
        try:
            for _ in range(self._n):
                self.submit(may_end.wait)
        finally:
            may_end.set()
