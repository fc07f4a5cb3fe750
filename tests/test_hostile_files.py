"""Eight users send costly lesson files at once: each gets a sentence, and the server stays under its ceiling."""

import asyncio
import json
import resource
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState

from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, serve
from tests.coroutines import finish
from tests.lessons.test_custom_lesson import TOML
from tests.lessons.test_toml_nesting import COSTLIEST, COSTLY
from tests.load.__main__ import wait_until_ready
from tests.load.tab import Tab
from viz import limits
from viz.modes.lesson.editor import EDITOR
from viz.text import translator

USERS = 8
BEYOND = 3_000_000_000
"""Bytes of addresses that the server may reserve from now on: a machine of tests survives a server without limits."""
T = translator("en")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("files") / "log.txt"
    with serve(ROOT / "serve.py", log) as running:
        wait_until_ready(running.url)  # from then on its ceiling holds
        yield running


def highest(pid: int) -> int:
    """Bytes that a process had in memory at any time."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def is_healthy(url: str) -> bool:
    with urllib.request.urlopen(f"{url}/healthz", timeout=SAFETY_NET) as answer:
        return bool(answer.status == 200)


async def read_file(tab: Tab, text: str, number: int) -> dict[str, Any]:
    """Send a file, and return what the editor is given in answer to it."""
    answer = await tab.change(**{EDITOR: {"file": {"value": text, "sent": number}}})
    assert not answer.exceptions and not answer.boxes
    state = json.loads(tab.controls[EDITOR].data)[0]["loaded"]
    assert state["n"] == number
    return state


@pytest.mark.long
def test_server_eight_costly_files_stays_small(server):
    """A file that nests deeply is never parsed, and the costliest file that is parsed takes little."""

    refusal = T("lesson.own_nested", line=1, most=limits.OWN_LESSON_NESTING)
    unknown = T("lesson.own_unknown", names="k0, k1, k10", where=T("lesson.own_whole"))
    files = {COSTLY["key"]: refusal, COSTLY["table and key"]: refusal, COSTLIEST: unknown, TOML: ""}

    async def send_all() -> None:
        healthy = 0
        async with AsyncExitStack() as stack:
            tabs = [await stack.enter_async_context(Tab(server.url)) for _ in range(USERS)]
            for tab in tabs:
                await tab.open("lessons")
            reserved = int(Path(f"/proc/{server.pid}/statm").read_text().split()[0]) * resource.getpagesize()
            resource.prlimit(server.pid, resource.RLIMIT_AS, (reserved + BEYOND,) * 2)
            for number, (text, sentence) in enumerate(files.items(), 1):
                reading = asyncio.gather(*(read_file(tab, text, number) for tab in tabs))
                while not reading.done():
                    healthy += await asyncio.to_thread(is_healthy, server.url)
                    await asyncio.sleep(0.05)
                for state in await reading:
                    assert (state["problem"], bool(state["lesson"])) == (sentence, not sentence)
        assert healthy >= len(files)

    finish(send_all())
    assert highest(server.pid) < limits.MEMORY_BYTES


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_server_deep_component_state_goes_on(server, depth):
    """JSON that nests deeply counts for nothing, or ends its own run at most."""
    deep = '{"file":' * depth + "1" + "}" * depth

    async def send() -> None:
        async with Tab(server.url) as tab:
            await tab.open("lessons")
            state = ClientState(query_string=tab.query, page_script_hash=tab.pages["lessons"])
            state.widget_states.widgets.add(id=tab.controls[EDITOR].id, json_value=deep[: limits.MESSAGE_STATES])
            assert (await tab.ask(state)).titles
            assert (await read_file(tab, TOML, depth))["lesson"]
            assert await asyncio.to_thread(is_healthy, server.url)

    finish(send())
