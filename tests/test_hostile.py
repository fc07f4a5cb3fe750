"""Hostile texts, links, messages and paths do not break the server, and no other user notices them.

One hosted server takes all of it. When it has, its log holds no word of a user's and it has tried to reach no other
machine.
"""

import asyncio
import http.client
import json
import math
import os
import random
import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import urlparse
from uuid import uuid4

import pytest
from starlette.datastructures import Headers
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed

from bench.hostile.__main__ import open_links, wrong
from bench.hostile.links import ALL, SMALL
from bench.load.tab import XSRF, Tab, said_of
from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, serve
from tests.coroutines import finish
from viz import limits
from viz.host.errors import SESSION
from viz.host.session_cookie import HEADER, NAME, mark_of

FOLDER = ROOT / "bench" / "hostile"
MARK = "okapi"
"""In every text typed here, and in no sentence of the project's."""
UPLOADS = limits.UPLOADS_EACH


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hostile")
    notes = folder / "outgoing"
    path = os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))
    with serve(ROOT / "serve.py", folder / "log.txt", PYTHONPATH=path, OUTGOING_NOTES=str(notes)) as running:
        yield running
        assert MARK not in running.read_log(), "a visitor's text is in the log"
    assert not notes.exists(), notes.read_text()


def visiting(do: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run what users do."""
    finish(do())


async def still_well(server: Server) -> None:
    """Another user is served."""
    async with Tab(server.url, patience=30) as tab:
        assert not wrong(await tab.open("masks", **SMALL))


# --- Links -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_random_links_open_complete_pages(server):
    """Random links raise nothing, and every page is complete."""
    log_start, faults = len(server.read_log()), list[Any]()

    async def open_all() -> None:
        faults.extend(await open_links(server.url, 250))

    visiting(open_all)
    assert faults == []
    assert not re.search("Traceback|Uncaught", server.read_log(log_start))


# --- Texts and choices ---------------------------------------------------------------------------------------------


class Reader(Tab):
    """A tab that keeps what is interpreted: Markdown wherever it is rendered, and the labels of figures."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.interpreted: list[str] = []
        self.labels: list[str] = []

    def _draw(self, delta: Delta, message: ForwardMsg) -> None:
        super()._draw(delta, message)
        kind = delta.new_element.WhichOneof("type") or ""
        proto: Any = getattr(delta.new_element, kind) if kind else None
        if kind in ("markdown", "heading", "alert", "html", "metric"):
            self.interpreted += leaves([value for _, value in proto.ListFields()])
        elif kind == "plotly_chart":
            fig = json.loads(proto.spec)
            self.labels += leaves([fig["data"], {**fig["layout"], "template": None}])
        else:
            self.interpreted += [str(getattr(proto, name)) for name in ("label", "help") if hasattr(proto, name)]


def leaves(tree: Any) -> list[str]:
    """Every text in a tree of lists and dicts."""
    if isinstance(tree, list | dict):
        return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in leaves(part)]
    return [tree] if isinstance(tree, str) else []


def batched(these: list[str], n: int) -> list[list[str]]:
    """A few at a time."""
    return [these[at : at + n] for at in range(0, len(these), n)]


def pieces(text: str) -> set[str]:
    """The parts of a text that would be recognised if it were written somewhere."""
    return {piece for piece in text.split() if len(piece) > 3 and not piece.isalnum()}


@pytest.mark.parametrize("page", ["heads", "masks"])
def test_typed_text_is_interpreted_nowhere(server, page):
    """A text is kept as typed and interpreted nowhere."""
    log_start = len(server.read_log())

    async def type_all() -> None:
        async with Reader(server.url) as tab:
            await tab.open(page, **SMALL)
            ours = "\n".join(tab.interpreted)
            for text in map(" ".join, batched(ALL, 3)):
                tab.interpreted.clear()
                tab.labels.clear()
                answer = await tab.change(text=f"{text} {MARK}")
                assert not wrong(answer) and not answer.boxes, text
                assert tab.value("text") == f"{text} {MARK}"
                interpreted, labels = "\n".join(tab.interpreted), "\n".join(tab.labels)
                assert not [piece for piece in pieces(text) if piece in interpreted and piece not in ours], text
                assert not [piece for piece in pieces(text) if set(piece) & set("<&#$") and piece in labels], text

    visiting(type_all)
    assert not re.search("Traceback|Uncaught", server.read_log(log_start))


def test_choice_not_offered_falls_back(server):
    """A browser that was tampered with may send anything in place of an option: names of models, above all."""

    async def choose_all() -> None:
        async with Tab(server.url) as tab:
            await tab.open("heads", text=MARK)
            for name in ("model", "mask", "source", "lang"):
                kind = tab.controls[name].kind
                for text in ALL[::4]:
                    value: Any = text if kind == "one" else [text]
                    answer = await tab.change(**{name: value})
                    assert not answer.exceptions and not answer.boxes, (name, text)
            assert not wrong(await tab.change(text=f"{MARK} again"))

    visiting(choose_all)


# --- Messages ------------------------------------------------------------------------------------------------------


def garbage(chance: random.Random) -> Iterator[bytes | str]:
    """Messages that no browser sends."""
    yield b""
    yield "a text frame"
    yield b"\xff" * 1000
    yield b"\x5a" + b"\xff\xff\xff\xff\x07"  # a field that says it is longer than the message
    yield ForwardMsg(ref_hash="0" * 32).SerializeToString()
    yield BackMsg(debug_shutdown_runtime=True).SerializeToString()
    yield BackMsg(debug_disconnect_websocket=True).SerializeToString()
    yield BackMsg(clear_cache=True).SerializeToString()
    yield BackMsg(stop_script=True).SerializeToString()
    yield bytes(3_000_000)
    yield from (chance.randbytes(chance.randint(1, 400)) for _ in range(40))


def test_meaningless_messages_end_one_session(server):
    """Meaningless messages end their own session at most."""

    async def send_all() -> None:
        async with Tab(server.url) as bystander:
            await bystander.open("masks", **SMALL)
            for message in garbage(random.Random(1)):
                try:
                    async with Tab(server.url, patience=10) as tab:
                        await tab.open("masks", **SMALL)
                        await tab.say(message)
                        await tab.change(text=MARK)
                except (ConnectionClosed, TimeoutError):
                    pass
            assert not wrong(await bystander.change(text=f"{MARK} at peace"))
        await still_well(server)

    visiting(send_all)


def test_wrong_values_end_one_run(server):
    """Sliders beyond their ends, numbers that are none, lists without members, JSON that is none."""
    values: dict[str, list[Any]] = {
        "slider": [1e308, -1.0, math.nan, math.inf, 0.5],
        "number": [1e308, math.nan, -1.0],
        "select": [[], ["a"] * 1000, [MARK]],
        "component": [
            {"choice": 7},
            {"choice": {"value": {"layer": 10**30, "several": ["x"], "temperature": "hot"}, "sent": 1}},
            {"choice": {"value": {"temperature": 10**400, "mix": 10**400, "alphas": [10**400]}, "sent": 10**400}},
            {"a": {}},
        ],
    }

    async def send_all() -> None:
        async with Tab(server.url) as tab:
            for path in ("heads", "convolution"):
                await tab.open(path, **SMALL | {"source": "model"})
                for control in list(tab.controls.values()):
                    for value in values.get(control.kind, []):
                        if control.key in tab.controls:
                            assert not wrong(await tab.change(**{control.key: value})), (control.key, value)
        await still_well(server)

    visiting(send_all)


VALUES: dict[str, Any] = {
    "trigger_value": True, "bool_value": True, "double_value": 1e308, "int_value": -(2**40), "string_value": MARK,
    "json_value": "{no json", "bytes_value": b"\xff\xfe", "json_trigger_value": "[1",
    "double_array_value": {"data": [math.nan]}, "int_array_value": {"data": [-5]}, "arrow_value": {"data": b"rubbish"},
    "string_array_value": {"data": [MARK]}, "string_trigger_value": {"data": MARK}, "chat_input_value": {"data": MARK},
    "file_uploader_state_value": {"uploaded_file_info": [{"file_id": "none", "name": MARK}]},
}  # fmt: skip
"""One of every kind that a control's value may have in a message."""


def test_values_of_no_control_are_ignored(server):
    """Every kind of value for every control at once; a fragment, a page and a control that do not exist."""
    log_start = len(server.read_log())

    async def send_all() -> None:
        for path in ("masks", ""):
            async with Tab(server.url) as tab:
                await tab.open(path, **SMALL)
                for kind, value in VALUES.items():
                    state = ClientState(query_string=tab.query, page_script_hash=tab.pages[path])
                    for control in tab.controls.values():
                        state.widget_states.widgets.add(id=control.id, **{kind: value})
                    answer = await tab.ask(state)
                    assert not wrong(answer), (path, kind, answer)
                foreign = ClientState(page_script_hash="0" * 32, fragment_id="1" * 32)
                assert not wrong(await tab.ask(foreign)), "there is none: all is drawn"
                assert not wrong(await tab.ask(ClientState(query_string=tab.query, page_script_hash="0" * 32)))
                assert not wrong(await tab.open(path, **SMALL)), "and it goes on"

    visiting(send_all)
    assert not re.search("Traceback|Uncaught|Error|fragment", server.read_log(log_start))


@pytest.mark.parametrize("depth", [3, 300])
def test_deep_component_state_is_ignored(server, depth):
    """JSON of a component that nests deeply counts for nothing, or ends its own run at most."""

    async def send_all() -> None:
        async with Tab(server.url) as tab:
            await tab.open("masks", **SMALL)
            state = ClientState(query_string=tab.query, page_script_hash=tab.pages["masks"])
            deep = '{"code":' * depth + "1" + "}" * depth
            state.widget_states.widgets.add(id=tab.controls["painter"].id, json_value=deep)
            assert (await tab.ask(state)).titles
            assert not wrong(await tab.open("masks", **SMALL))
        await still_well(server)

    visiting(send_all)


class Crowd:
    """Uploads of one user's, each said to be that long, which come to their end together."""

    def __init__(self, tab: Tab) -> None:
        self.tab, self.parts = tab, urlparse(tab.url)

    async def begin(self, session: str, n_bytes: int, reply: str = "") -> tuple[asyncio.StreamReader, Any, bytes]:
        """The head of an upload and a little of the file; gives what follows."""
        start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
        body = start + bytes(n_bytes) + b"\r\n--b--\r\n"
        reader, writer = await asyncio.open_connection(self.parts.hostname, self.parts.port)
        writer.write(
            f"PUT /_stcore/upload_file/{session}/{uuid4()} HTTP/1.1\r\nHost: {self.parts.netloc}\r\n"
            f"Origin: {self.tab.url}\r\nX-Xsrftoken: {self.tab.cookies[XSRF]}\r\n"
            f"Cookie: {said_of(self.tab.cookies)}\r\n"
            "Connection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n"
            f"{reply or f'Content-Length: {len(body)}'}\r\n\r\n".encode()
            + body[:1000]
        )
        await writer.drain()
        return reader, writer, body[1000:]

    async def all_at_once(self, n: int, session: str, n_bytes: int) -> list[int]:
        """Begin so many, then end them; the answers."""
        uploads = [await self.begin(session, n_bytes) for _ in range(n)]
        rejected = [reader for reader, _, _ in uploads[UPLOADS:]]
        answers = [await reader.readline() for reader in rejected]  # before a byte more is sent
        for _, writer, rest in uploads[: n - len(answers)]:
            writer.write(rest)
        answers += [await reader.readline() for reader, _, _ in uploads[:UPLOADS]]
        for _, writer, _ in uploads:
            writer.close()
        return [int(answer.split()[1]) for answer in answers]


def test_parallel_uploads_are_counted_at_once(server):
    """Uploads that begin together are counted from their first byte."""

    async def send_all() -> None:
        async with Tab(server.url) as tab:
            await tab.open("convolution", section="picture", picture="scene")
            assert await Crowd(tab).all_at_once(1, tab.session, 1_000) == [403], "this page has no place for a file"
            await tab.change(picture=[tab.controls["picture"].options[-1]])
            async with Tab(server.url) as stranger:
                assert await Crowd(stranger).all_at_once(1, tab.session, 1_000) == [403], "it is another's"
            answers = await Crowd(tab).all_at_once(60, tab.session, 1_900_000)
            assert answers == [413] * (60 - UPLOADS) + [204] * UPLOADS
            assert await Crowd(tab).all_at_once(1, tab.session, 1_000) == [413]
            assert not wrong(await tab.change(picture=[tab.controls["picture"].options[0]]))
        async with Tab(server.url) as second_tab:
            await second_tab.open("masks", **SMALL)
            assert await Crowd(second_tab).all_at_once(1, second_tab.session, 1_000) == [403]
            assert await Crowd(second_tab).all_at_once(1, "nobody", 1_000) == [403]

    visiting(send_all)


# --- Sessions --------------------------------------------------------------------------------------------------------


def test_session_id_does_not_open_session(server):
    """Without a cookie, with a cookie of another session, or with the owner's mark in a header."""
    log_start = len(server.read_log())

    async def take() -> None:
        async with Tab(server.url) as owner:
            await owner.open("masks", **SMALL | {"text": MARK})
            mark = mark_of(Headers({"cookie": said_of(owner.cookies)}))
            for cookies in ({XSRF: owner.cookies[XSRF]}, {}, {NAME: "a" * 43}, {NAME: mark[:43]}):
                thief = Tab(server.url)
                thief.cookies = cookies or {"nothing": ""}
                await thief.connect(owner.session, **{HEADER: mark})
                assert not wrong(await thief.open("masks", **SMALL))
                assert thief.session not in ("", owner.session)
                await thief.close()
            answer = await owner.change(text=f"{MARK} again")
            assert not wrong(answer) and not answer.boxes, "its owner does not notice"

    visiting(take)
    assert not re.search("Traceback|Uncaught", server.read_log(log_start))


def test_reconnection_resumes_session(server):
    """A user who was cut off resumes the session and may open other tabs."""

    async def come_back() -> None:
        async with Tab(server.url) as first:
            await first.open("masks", **SMALL | {"text": MARK})
            second = Tab(server.url)
            second.cookies = first.cookies
            async with second:
                await second.open("masks", **SMALL)
                sessions = first.session, second.session
                assert sessions[0] != sessions[1]
                for tab, session in ((first, sessions[0]), (second, sessions[1])):
                    await tab.vanish()
                    await tab.connect(session)
                    assert not wrong(await tab.change(text=f"{MARK} {session[:3]}"))
                    assert tab.session == session

    visiting(come_back)


def test_session_id_is_not_logged(server):
    """A session named to the server is in its log as one, without its name."""

    async def come_twice() -> None:
        async with Tab(server.url) as first:
            await first.open("masks", **SMALL)
            second = Tab(server.url)
            second.cookies = first.cookies
            await second.connect(first.session)
            await second.close()

    visiting(come_twice)
    assert "(a session)" in server.read_log()
    assert not SESSION.search(server.read_log())


# --- Paths -----------------------------------------------------------------------------------------------------------

UP = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%5c",
    "..\\",
    "....//",
    "..;/",
    "%252e%252e%252f",
    "..%c0%af",
    "..%00/",
)
ROOTS = (
    "/", "/media/", "/static/", "/app/static/", "/static/js/", "/_stcore/bidi-components/headlight.head_grid/",
    "/component/headlight/", "/_stcore/upload_file/", "/_stcore/",
)  # fmt: skip
SECRET_FILES = ("etc/passwd", "app.py", "viz/limits.py", ".streamlit/config.toml", "proc/self/environ")
SECRETS = (b"root:", b"import streamlit", b"HEADLIGHT_", b"[server]", b"PATH=")


def test_no_path_leaves_served_files(server):
    """No path leads out of the served files."""
    parts = urlparse(server.url)

    def fetch(path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=SAFETY_NET)
        try:
            connection.putrequest("GET", path, skip_accept_encoding=True)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    paths = [
        f"{root}{up * 6}{secret_file}"
        for root in ROOTS
        for up in UP
        for secret_file in SECRET_FILES[: 2 + (up == "../") * 3]
    ]
    paths += [
        f"{root}{secret_file}"
        for root in ROOTS
        for secret_file in ("/etc/passwd", "//etc/passwd", "C:/x", "%00", "~root/.ssh", "con")
    ]
    answers = {path: (status, body[:200]) for path in paths for status, body in [fetch(path)]
             if status >= 500 or any(secret in body for secret in SECRETS)}  # fmt: skip
    assert answers == {}
