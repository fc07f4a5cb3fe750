"""Lifespan of a public server: warm-up, health and readiness routes, and shutdown."""

import asyncio
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import FrameType
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.logger import get_logger

from viz import limits
from viz.background import contain, start_thread, where
from viz.frame import queue_notice
from viz.frame.connection import loading
from viz.host.errors import log_uncaught, redact_log
from viz.host.maintenance import Maintenance
from viz.host.metrics import Metrics
from viz.host.session_cookie import HEADER
from viz.host.sockets import Sockets
from viz.host.uploads import Uploads
from viz.scheduler.passage import Passage
from viz.scheduler.stores import Stores
from viz.streamlit_internals.hosted import (
    answer_unknown_fragments,
    bind_sessions_to_header,
    discard_lost_answers,
    discard_parts_of_lost_blocks,
    end_forgotten_sessions,
    redact_new_session,
)
from viz.streamlit_internals.probe import Pulse, draws_page
from viz.streamlit_internals.widget_values import reset_unreadable_widgets

PATHS = ("/healthz", "/readyz")
LOOP_ENDED = "Streamlit no longer sends messages to browsers."
MAINTENANCE_ENDED = "Nothing keeps the memory of this server below its ceiling any more."
PAGE_AGAIN = 5.0
"""Seconds until a page that failed to render is tried again."""
FIRST_USER, FIRST_PICTURE = 1.0, 2.0
"""Seconds to wait for a first user, and then for the first page to reach them, before large imports: an import blocks
all other threads."""
FOR_PROCESS: tuple[Callable[[], None], ...] = (
    end_forgotten_sessions,
    answer_unknown_fragments,
    discard_lost_answers,
    discard_parts_of_lost_blocks,
    reset_unreadable_widgets,
    redact_new_session,
    redact_log,
    log_uncaught,
)
"""Mends of Streamlit and of the log, which hold for the whole process."""
_log = get_logger(__name__)


def import_ahead(module: str) -> None:
    """Import a module before the first user needs it."""
    loading.module(module)


def warm() -> None:
    """Import, load the model and compute what the first page shows."""
    loading.module("viz.host.warmup").warm()


def set_ceiling(stores: Stores) -> None:
    """Set the memory ceiling: work that would exceed it waits. Models loaded later raise it by their size."""
    loaded_at_first = stores.models.bytes

    def most() -> int:
        ceiling = stores.bounds.memory_bytes + stores.models.bytes - loaded_at_first
        return min(ceiling, limits.CONTAINER_BYTES) if limits.CONTAINER_BYTES else ceiling

    stores.memory.most = most
    loading.module("viz.frame.compute.long_texts").keep_less(stores)


async def page_problem() -> str:
    """Return the reason why a new user's first page does not render; "" if it does."""
    try:
        return "" if await draws_page() else "it has no title, or shows an error"
    except Exception as error:
        return where(error)


class Readiness:
    """Readiness of the server for users, with the reasons if it is not ready.

    Connected users see the first page at once, and any other once it can render (``can_open``); a load balancer sends
    more users when all is warm. ``then`` is called after the warm-up, before the server is ready.
    """

    def __init__(
        self, sockets: Sockets, then: Callable[[], object] = lambda: None, stores: Stores | None = None
    ) -> None:
        self.sockets, self.uploads, self.then = sockets, Uploads(), then
        self.stores = stores or queue_notice.stores()
        self.refusals: Counter[str] = Counter()
        self.can_open = asyncio.Event()
        self.pulse, self.passage = Pulse(), Passage(self.stores)
        self.maintenance = Maintenance(
            self.stores.results, self.stores.memory, self.uploads, (self.stores.long_texts,), self.stores.queues
        )
        self.missing = ["warm"]
        self.stopping = False
        metrics = Metrics(sockets, self.refusals, self.stores)
        self.routes = [Route("/healthz", self._alive), Route("/readyz", self._ready), metrics.route]

    def reasons(self) -> list[str]:
        """Return the reasons against sending users here; empty if ready."""
        full = len(self.sockets) >= self.sockets.most
        turns, pages = self.stores.turns, self.stores.pages
        crowded = turns.waiting + pages.waiting >= turns.line // 2
        stalled = self.maintenance.is_stalled
        further = {"stopping": self.stopping, "sockets": full, "queue": crowded, "maintenance": stalled}
        return self.missing + [reason for reason, holds in further.items() if holds]

    async def _alive(self, _: Request) -> PlainTextResponse:
        sentence = MAINTENANCE_ENDED * self.maintenance.is_stalled or LOOP_ENDED * (not await self.pulse.answers())
        return PlainTextResponse(sentence or "ok", 503 if sentence else 200)

    async def _ready(self, _: Request) -> JSONResponse:
        reasons = [*self.reasons(), *self.passage.obstacles(), *["loop"] * (not await self.pulse.answers())]
        return JSONResponse({"ready": not reasons, "waiting_for": reasons}, 503 if reasons else 200)

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """Warm up in the background while the server is alive but not ready; run the maintenance."""
        loading.start_cold()
        bind_sessions_to_header(HEADER)
        for mend in FOR_PROCESS:
            mend()
        self._watch_for_the_end()
        self.stores.start_threads()
        work = {"warm-up": self._warm(), "maintenance": self.maintenance.run()}
        tasks = [asyncio.create_task(contain(name, coroutine)) for name, coroutine in work.items()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def _warm(self) -> None:
        began = time.monotonic()
        try:
            await asyncio.to_thread(self._warm_in_time)
            self._mark_warm()
            await asyncio.to_thread(self.then)
        except Exception as error:
            self.missing = ["model"]
            _log.error("the model cannot be used: %s", where(error))
        else:
            self.missing = ["page"]
        finally:
            self._mark_warm()
        if self.missing == ["page"]:
            await self._wait_for_a_page()
            self.missing = []
            _log.info("Ready in %.1f s.", time.monotonic() - began)

    async def _wait_for_a_page(self) -> None:
        """Open the first page as a user does, until it renders."""
        logged = ""
        while problem := await page_problem():
            if problem != logged:
                _log.error("The first page is not drawn: %s", problem)
            logged = problem
            await asyncio.sleep(PAGE_AGAIN)

    def _warm_in_time(self) -> None:
        if not loading.is_asked(FIRST_USER) and len(self.sockets):
            loading.is_asked(FIRST_PICTURE)
        with queue_notice.use(self.stores):
            warm()
        # There is a ceiling for what users compute before they are admitted.
        set_ceiling(self.stores)

    def _mark_warm(self) -> None:
        self.can_open.set()
        loading.mark_warm()

    def _watch_for_the_end(self) -> None:
        """On SIGTERM, admit no new work; exit after a time limit."""
        if threading.current_thread() is not threading.main_thread():
            return
        server = signal.getsignal(signal.SIGTERM)

        def stop(number: int, frame: FrameType | None) -> None:
            self.stopping = self.stores.turns.is_closed = True
            start_thread("exit", partial(os._exit, 0), limits.STOPPING_SECONDS)
            if callable(server):
                server(number, frame)

        signal.signal(signal.SIGTERM, stop)
