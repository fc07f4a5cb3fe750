"""Memory that nobody needs any more does not stay with the server."""

import asyncio
import os

import pytest
import torch

from tests.coroutines import finish
from tests.load.watch import memory_of
from viz.host import readiness, upkeep
from viz.host.sockets import Sockets


@pytest.mark.skipif(upkeep.trimmer() is abs, reason="needs glibc: elsewhere nothing is handed back, as on a Mac")
def test_pages_between_what_stays_go_back(monkeypatch):
    """The lifespan does it: a tenth of many small tensors stays, and pins nearly all of the rest."""
    monkeypatch.setattr(upkeep, "EVERY", 0.05)
    monkeypatch.setattr(readiness, "warm", lambda: 0)
    monkeypatch.setattr(readiness, "keep_visitors_out_of_the_log", lambda: None)  # these two are for the whole process
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
