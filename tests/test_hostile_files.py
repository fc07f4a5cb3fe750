"""A lesson file whose state nests deeply: the server goes on. tests/lessons/test_toml_nesting.py has files that do."""

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState

from bench.load.__main__ import wait_until_ready
from bench.load.tab import Tab
from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, serve
from tests.coroutines import finish
from tests.lessons.test_custom_lesson import TOML
from viz import limits
from viz.modes.lesson.editor import EDITOR


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("files") / "log.txt"
    with serve(ROOT / "serve.py", log) as running:
        wait_until_ready(running.url)  # from then on its ceiling holds
        yield running


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


@pytest.mark.parametrize("depth", [3, 300])
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
