"""A server over real sockets: disconnects, faults, many users, and shutdown."""

import asyncio
import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bench.load.tab import Answer, Tab
from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, serve
from tests.coroutines import finish
from viz.text import translator

SECRET = "xylophone"
CROWD = 500


class Listener(Tab):
    """A tab that records its messages."""

    def __init__(self, url: str) -> None:
        super().__init__(url, patience=SAFETY_NET)
        self.heard: list[ForwardMsg] = []
        self.vanishes_at = ""
        """The kind of message at which the connection is lost."""

    async def _hear(self, answer: Answer) -> ForwardMsg:
        self.heard.append(await super()._hear(answer))
        if self.heard[-1].WhichOneof("type") == self.vanishes_at:
            self.vanishes_at = ""
            await self.vanish()
        return self.heard[-1]

    def has_notice(self, key: str, **values: object) -> bool:
        """Return whether a notice has this text."""
        notices = (
            message.delta.new_element.html.body for message in self.heard if message.WhichOneof("type") == "delta"
        )
        return any(f">{translator('en')(key, **values)}</p>" in notice for notice in notices)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {
        "HEADLIGHT_PASSES": "1",
        "HEADLIGHT_SOCKETS_PER_ADDRESS": str(CROWD),
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1",  # for the crowd: lost sessions are kept 60 s otherwise
    }
    log = tmp_path_factory.mktemp("host") / "log.txt"
    with serve(Path(__file__).with_name("slow_app.py"), log, **settings) as running:
        wait(lambda: get(running, "/readyz")[0] == 200)
        yield running


def get(server: Server, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(server.url + path, timeout=SAFETY_NET) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def inside(server: Server) -> dict[str, int]:
    return json.loads(get(server, "/inside")[1])


def wait(condition: Any) -> None:
    until = time.monotonic() + SAFETY_NET
    while not condition():
        assert time.monotonic() < until, "it never came to this"
        time.sleep(0.05)


async def until(condition: Any) -> None:
    await asyncio.to_thread(wait, condition)


def test_cold_server_shows_first_page(tmp_path):
    go, t = tmp_path / "go", translator("en")

    async def visit(server: Server) -> None:
        async with Tab(server.url) as first, Listener(server.url) as second, Tab(server.url) as third:
            answer = await first.open("", lang="en")
            assert (answer.titles, answer.boxes, answer.exceptions) == ([t("start.headline")], [], [])
            coming = asyncio.create_task(second.open("heads", lang="en"))
            await until(lambda: second.has_notice("waiting.warming"))
            assert (await third.open("", lang="en")).titles == [t("start.headline")], "nobody is held up"
            assert json.loads(get(server, "/inside")[1]) == [], "nothing large is imported"
            assert get(server, "/readyz") == (503, '{"ready":false,"waiting_for":["warm"]}')
            go.touch()
            answer = await coming
            assert (answer.titles, answer.boxes, answer.exceptions) == ([t("heads.title")], [], [])
            assert json.loads(get(server, "/inside")[1]), "the test sees what is imported"

    with serve(Path(__file__).with_name("cold_app.py"), tmp_path / "log.txt", COLD_UNTIL=str(go)) as server:
        assert get(server, "/healthz") == (200, "ok")
        finish(visit(server))
        wait(lambda: get(server, "/readyz")[0] == 200)
        assert "Traceback" not in server.read_log()


def test_health_routes_are_open(server):
    assert get(server, "/healthz") == (200, "ok")
    assert get(server, "/readyz") == (200, '{"ready":true,"waiting_for":[]}')
    assert get(server, "/metrics") == get(server, "/_stcore/metrics") == (404, "Not found.")
    assert json.loads(get(server, "/_stcore/host-config")[1])["allowedOrigins"] == [], "no page around drives the app"


def test_first_deep_link_is_served(server):
    async def visit() -> tuple[Answer, list[ForwardMsg]]:
        async with Listener(server.url) as tab:
            return await tab.open("positions", text="The cat sat.", lang="en"), tab.heard

    answer, heard = finish(visit())
    assert answer.titles == [translator("en")("positions.title")]
    assert answer.exceptions == answer.boxes == []
    first = next(message.new_session for message in heard if message.WhichOneof("type") == "new_session")
    assert first.main_script_path == "main.py", "the program's path is not sent"
    assert first.initialize.HasField("user_info") and not first.initialize.user_info.ListFields()
    assert [field.name for field, _ in first.initialize.environment_info.ListFields()] == ["streamlit_version"]
    assert not any(str(ROOT).encode() in message.SerializeToString() for message in heard)


def test_failed_pass_leaks_no_text(server):
    async def visit() -> None:
        async with Listener(server.url) as first, Listener(server.url) as second:
            answer = await first.open(text=f"badly {SECRET}")
            assert answer.boxes == [translator("en")("error.failed", kind="RuntimeError")]
            assert answer.exceptions == []
            assert first.value("text") == f"badly {SECRET}", "what was typed is still there"
            answer = await first.change(text=f"strangely {SECRET}")
            assert answer.boxes == [translator("en")("error.failed", kind="KeyError")]
            assert answer.exceptions == []
            answer = await first.change(text=f"well {SECRET}")
            assert answer.boxes == answer.exceptions == [], "and it goes on"
            await second.open()
            assert not any(SECRET.encode() in message.SerializeToString() for message in second.heard)
            assert any(SECRET.encode() in message.SerializeToString() for message in first.heard), "the test sees texts"

    finish(visit())
    assert get(server, f"/?text={SECRET}")[0] == 200
    assert SECRET not in server.read_log()
    assert "a computation failed: RuntimeError in " in server.read_log()
    assert "Uncaught app execution: KeyError in " in server.read_log()
    assert "Traceback" not in server.read_log()
    assert inside(server)["working"] == 0


def test_control_of_section_draws_section_alone(server):
    """No title, no text box, no navigation is sent again; the link follows."""

    async def change() -> Listener:
        async with Listener(server.url) as tab:
            await tab.open("cost", section="heads")
            tab.heard.clear()
            await tab.change(cost_fixed=True)
            return tab

    tab = finish(change())
    assert {"heading", "text_area", "page_link"}.isdisjoint(
        message.delta.new_element.WhichOneof("type") for message in tab.heard
    )
    assert "cost_fixed=1" in tab.query


@pytest.mark.parametrize("path", ["heads", "masks", "positions", "block", "long-text", "next-word", "two-sequences"])
def test_changed_text_redraws_its_part(server, path):
    """Nothing around it is sent again, and its controls are those that the link gives; so after no word."""
    link = {"lang": "en", "source": "words", "section": "cross_attention" if path == "two-sequences" else ""}

    async def change() -> tuple[Listener, Tab]:
        async with Listener(server.url) as tab, Tab(server.url) as fresh_tab:
            await tab.open(path, text="giraffes & 100% elephants", **link)
            for text in ("One dog saw two dogs.", "", "Two dogs?", "Three cats & 100% dogs saw two."):
                tab.heard.clear()
                assert not (await tab.change(text=text)).exceptions
            await fresh_tab.open(path, **dict(parse_qsl(tab.query)))
            return tab, fresh_tab

    tabs = finish(change())
    assert not any(message.delta.new_element.heading.tag == "h1" for message in tabs[0].heard)
    controls = [
        {item.key: (item.options, item.span, tab.value(item.key)) for item in tab.controls.values() if not item.data}
        for tab in tabs
    ]
    assert controls[0] == controls[1]
    assert controls[0]["text"][2] == "Three cats & 100% dogs saw two."


def test_waiting_user_sees_queue_rank(server):
    async def visit() -> None:
        async with Tab(server.url) as slow, Listener(server.url) as second, Listener(server.url) as third:
            lost = asyncio.create_task(slow.open(text="slowly one"))
            await until(lambda: inside(server)["working"] == 1)
            mine = asyncio.create_task(second.open(text="a second text"))
            await until(lambda: inside(server)["waiting"] == 1)
            same, third_tab = Tab(server.url), asyncio.create_task(third.open(text="a third text"))
            await until(lambda: inside(server)["waiting"] == 2)
            async with same:
                equal = asyncio.create_task(same.open(text="a third text"))
                await asyncio.sleep(1.5)
                assert inside(server)["waiting"] == 2, "equal requests have one place"
                await slow.vanish()
                for answer in await asyncio.gather(mine, third_tab, equal):
                    assert answer.boxes == answer.exceptions == []
            with pytest.raises(ConnectionClosed):
                await lost
            assert second.has_notice("waiting.place", n=1)
            assert third.has_notice("waiting.place", n=2)

    finish(visit())
    wait(lambda: (inside(server)["working"], inside(server)["waiting"]) == (0, 0))


def test_closed_tabs_free_resources(server):
    """Handles, memory and the count of sockets; the one too many is refused and told so."""
    address = server.url.replace("http", "ws", 1) + "/_stcore/stream"
    memory = Path(f"/proc/{server.pid}/statm")

    async def visit() -> None:
        async with Tab(server.url) as tab:
            assert (await tab.open()).boxes == []

    finish(visit())  # the first page of all takes memory that stays
    before = inside(server), int(memory.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if memory.exists() else 0

    async def crowd() -> None:
        tabs = []
        try:
            for _ in range(0, CROWD, 50):
                tabs += await asyncio.gather(*(connect(address, proxy=None, ping_interval=None) for _ in range(50)))
            with pytest.raises(InvalidStatus, match="403"):
                await connect(address, proxy=None)
            assert get(server, "/_stcore/health")[0] == 503
            assert "full" in get(server, "/_stcore/health")[1]
            assert get(server, "/healthz")[0] == 200
        finally:
            for socket in tabs:
                socket.transport.abort()

    def back_to_normal() -> bool:
        time.sleep(1.2)  # lost sessions are kept for one, and forgotten when the next one is lost
        finish(visit())
        return inside(server)["files"] <= before[0]["files"] + 12

    finish(crowd())
    wait(lambda: inside(server)["sockets"] == 0)
    wait(back_to_normal)
    if memory.exists():
        grown = int(memory.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") - before[1]
        assert grown < 50e6
    assert get(server, "/_stcore/health")[0] == 200


def test_resumed_session_says_nothing_old(server):
    """The rest of a run whose beginning is lost is not sent: a browser cannot place it, and would show nothing."""

    async def come_back() -> None:
        async with Listener(server.url) as tab:
            await tab.open("masks", source="words", text="one two three")
            tab.vanishes_at = "delta"
            with suppress(ConnectionClosed):
                await tab.go("heads")
            session = tab.session
            await tab.connect(session)
            tab.heard.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await tab._hear(Answer())
            assert not {message.WhichOneof("type") for message in tab.heard} & {"delta", "ref_hash", "script_finished"}
            assert (await tab.go("masks")).titles == [translator("en")("masks.title")]
            assert tab.session == session

    finish(come_back())


def test_sigterm_stops_running_work(server):
    """The last test: the server is gone after it."""

    async def visit() -> int | None:
        async with Tab(server.url) as tab:
            work = asyncio.create_task(tab.open(text="slowly to the end"))
            await until(lambda: inside(server)["working"] == 1)
            os.kill(server.pid, signal.SIGTERM)
            with suppress(ConnectionClosed):  # in words, if there is time for it
                assert (await work).boxes == [translator("en")("error.closing")]
            assert tab._socket is not None
            await asyncio.wait_for(tab._socket.wait_closed(), SAFETY_NET)
            return tab._socket.close_code

    assert finish(visit()) == 1012, "service restart: the browser comes again"
    exit_options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    wait(lambda: os.waitid(os.P_PID, server.pid, exit_options) is not None)
    assert "Traceback" not in server.read_log()
