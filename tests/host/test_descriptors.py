"""File descriptors: a server with few of them refuses tabs before it has none left, and answers all the time."""

import asyncio
import json
import socket
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlparse

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests import SAFETY_NET
from tests.browser.drive import Server, serve
from tests.coroutines import finish
from viz import limits
from viz.host import descriptors
from viz.host.sockets import Sockets
from viz.streamlit_internals import hosted

HARD = 400
"""As few_files_app.py has it."""
SILENT = 120
"""Connections that say nothing."""
needs_limits = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of this kind")


@pytest.fixture
def limit(monkeypatch):
    """Have the process another limit."""

    def have(number: int) -> None:
        monkeypatch.setattr(descriptors, "limit", lambda: number)

    return have


def get(server: Server, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(server.url + path, timeout=SAFETY_NET) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_limits_with_enough_descriptors_stay(limit):
    """Nothing is taken from what is configured."""
    limit(100_000)
    assert descriptors.most_tabs() == Sockets().most == limits.SOCKETS
    assert descriptors.most_lost(500) == descriptors.UNLIMITED
    assert 10 * limits.CONNECTIONS_EACH < descriptors.most_connections() < 100_000 - descriptors.RESERVED


@pytest.mark.parametrize("number", [256, 400, 1_024, 2_048, 4_096])
def test_limits_with_few_descriptors_fit(limit, number):
    """The process, its connections, its tabs and its lost sessions together have no more than there are."""
    limit(number)
    most = Sockets().most
    for n_tabs in range(most + 1):
        n_used = descriptors.TAB * n_tabs + descriptors.LOST * min(128, descriptors.most_lost(n_tabs))
        assert descriptors.RESERVED + min(600, descriptors.most_connections()) + n_used <= number
    assert most >= min(limits.SOCKETS, (number - descriptors.RESERVED) // 6)


def test_storage_when_full_ends_sessions(monkeypatch):
    """Sessions that Streamlit's storage drops are shut down at once, not when they are collected."""
    monkeypatch.setattr(MemorySessionStorage, "save", MemorySessionStorage.save)
    hosted.end_forgotten_sessions()
    shutdowns, storage = [], MemorySessionStorage(maxsize=3, ttl_seconds=60)
    for name in "abcde":
        storage.save(
            SimpleNamespace(session=SimpleNamespace(id=name, shutdown=lambda name=name: shutdowns.append(name)))
        )
    assert shutdowns == ["a", "b"]
    hosted._expire_sessions(storage, 1)
    assert shutdowns == ["a", "b", "c", "d"]


@needs_limits
def test_server_with_few_descriptors_answers(tmp_path):
    """Tabs up to the limit, one more, silent connections, and all tabs anew: ``/healthz`` answers all the time."""

    async def visit(server: Server) -> None:
        address, place = server.url.replace("http", "ws", 1) + "/_stcore/stream", urlparse(server.url)

        async def tabs() -> list:
            sockets: list = []
            with suppress(InvalidStatus):
                while len(sockets) < HARD:
                    sockets.append(await connect(address, proxy=None, ping_interval=None, open_timeout=SAFETY_NET))
            return sockets

        while (await asyncio.to_thread(get, server, "/readyz"))[0] != 200:  # until then it lets few tabs in
            await asyncio.sleep(0.2)
        open_tabs = await tabs()
        assert 40 < len(open_tabs) < HARD // descriptors.TAB
        status, sentence = await asyncio.to_thread(get, server, "/_stcore/health")
        assert status == 503 and "full" in sentence
        with ExitStack() as silent:
            for _ in range(SILENT):
                silent.enter_context(socket.create_connection((place.hostname, place.port), 20))
            assert await asyncio.to_thread(get, server, "/healthz") == (200, "ok")
        for tab in open_tabs:
            tab.transport.abort()
        while json.loads((await asyncio.to_thread(get, server, "/inside"))[1])["sockets"]:
            await asyncio.sleep(0.05)
        again = await tabs()
        assert len(again) >= len(open_tabs) - 1, "sessions that wait for their browsers give way"
        assert await asyncio.to_thread(get, server, "/healthz") == (200, "ok")
        inside = json.loads((await asyncio.to_thread(get, server, "/inside"))[1])
        assert inside["files"] < HARD
        for tab in again:
            tab.transport.abort()

    with serve(Path(__file__).with_name("few_files_app.py"), tmp_path / "log.txt") as server:
        finish(visit(server))
        assert "Too many open files" not in server.read_log()
        assert "Traceback" not in server.read_log()
