"""Requests that no browser sends: each is answered or ended at once, and the log has one line of it at most."""

import asyncio
import time

import pytest

from tests.host.connections import test_connections
from tests.host.connections.test_connections import HOST, Line, run, small_limits
from viz import limits
from viz.host import connections, descriptors

__all__ = ["small_limits"]

SOCKET = (
    b"GET /_stcore/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
MALFORMED_REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_body_broken_after_answer_ends_connection(caplog):
    """uvicorn would answer it a second time, which h11 refuses, and asyncio logs a traceback."""
    errors = []

    async def test(port):
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["message"]))
        line = await Line.to(port, MALFORMED_REQUEST)
        await line.reader.readuntil(b"done")
        line.writer.write(b"zz\r\nokapi")
        assert await line.over() is not None

    run(test)
    assert errors == [] and "okapi" not in caplog.text


@pytest.mark.parametrize(
    "rest",
    [
        b"X-Long: " + b"a" * 9_000 + b"\r\n\r\n",
        b"Content-Length: 5\r\n\r\nokapi",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nokapi\r\n0\r\n\r\n",
        b"".join(b"X-%d: a\r\n" % n for n in range(300)) + b"\r\n",
    ],
    ids=["long line", "body", "chunks", "many lines"],
)
def test_malformed_socket_request_is_refused(rest):
    """The websockets package reads no such head, and uvicorn waits for its end for good, beyond every limit."""

    async def test(port):
        assert b" 400 " in await (await Line.to(port, SOCKET + rest)).over()
        assert not connections._connected

    run(test)


@pytest.mark.parametrize("content", [b"okapi", b"\xff\xfe"], ids=["text", "no text"])
def test_text_message_is_not_decoded(caplog, content):
    """The app refuses it (viz/host/message_filter.py); what is no UTF-8 would be an error in the log before."""

    async def test(port):
        tab = await Line.tab(port)
        tab.writer.write(bytes([0x81, 0x80 | len(content)]) + bytes(4) + content)
        assert await tab.over() is not None
        assert connections._partial_messages.bytes == 0

    run(test)
    assert "UTF-8" not in caplog.text and "okapi" not in caplog.text


@pytest.mark.parametrize("opcode", [0x89, 0x8A], ids=["pings", "pongs"])
def test_many_control_frames_end_connection(opcode):
    """A few are answered; of ten thousand in one packet no more are parsed than fit into a piece."""
    frame = bytes([opcode, 0x80]) + bytes(4)

    async def test(port):
        tab = await Line.tab(port)
        tab.writer.write(frame * 3)
        if opcode == 0x89:
            assert await tab.reader.readexactly(6) == b"\x8a\x00" * 3
        tab.say(5)
        assert await tab.answer() == 5
        tab.writer.write(frame * 10_000)
        pongs, _, code = (await tab.over()).partition(b"\x88\x02")
        assert int.from_bytes(code[:2], "big") == 1008
        assert len(pongs) // 2 <= connections.PIECE // len(frame) + 1

    run(test)


def test_control_frames_are_allowed_again(monkeypatch):
    """A browser that is open for hours answers thousands of pings."""
    monkeypatch.setattr(connections, "CONTROL_FRAMES_A_SECOND", 1_000)

    async def test(port):
        tab = await Line.tab(port)
        for _ in range(3 * connections.CONTROL_FRAMES):
            tab.writer.write(b"\x89\x80" + bytes(4))
            assert await tab.reader.readexactly(2) == b"\x8a\x00"
            await asyncio.sleep(0.002)

    run(test)


def test_unanswered_close_ends_connection_soon(monkeypatch):
    """A client that gives no answer to a closing frame is disconnected; uvicorn would wait for 10 s."""

    async def closing(scope, receive, send):
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1003})

    monkeypatch.setattr(test_connections, "app", closing)

    async def test(port):
        tab, began = await Line.tab(port), time.monotonic()
        assert await tab.over() == b"\x88\x02" + (1003).to_bytes(2, "big")
        assert time.monotonic() - began < 10

    run(test)


def test_crowded_server_ends_idle_connections(monkeypatch):
    """Silent connections give way to others; one that is being answered does not."""
    monkeypatch.setattr(descriptors, "most_connections", lambda: 3)
    monkeypatch.setattr(limits, "STUCK_SECONDS", 60)

    async def test(port):
        busy = await Line.to(port, b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await busy.reader.readexactly(1_000)
        silent = [await Line.to(port) for _ in range(7)]
        last = await Line.to(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b" 200 " in await last.over()
        assert [await line.over() for line in silent[:5]] == [b""] * 5
        assert len(await busy.over()) > 19_000_000
        assert len(connections._beside_tabs) <= 3 and connections._connected[HOST] <= 3

    run(test)
