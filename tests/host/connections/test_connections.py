"""Timeouts of partial messages, partial requests and unread answers, and their bound in bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import ClassVar

import pytest
import uvicorn
from uvicorn.server import Server

from tests import SAFETY_NET
from tests.coroutines import finish
from viz import limits
from viz.host import connections
from viz.host.connections import Messages, Requests, limit_connections
from viz.host.connections.partial_messages import PartialMessages

HOST = "127.0.0.1"
SHORT = 1_000
"""Bytes that are missing at the end."""


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    """Install small limits in uvicorn's server, as for Streamlit's."""
    monkeypatch.setattr(Server, "startup", Server.startup)
    monkeypatch.setattr(connections, "_partial_messages", PartialMessages(5_000_000, 3_000_000))
    limit_connections()


async def app(scope, receive, send):
    """Says how long each message is; over HTTP, 20 MB."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "bytes": str(len(message["bytes"])).encode()})
    elif scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(20 if scope["path"] == "/large" else 0):
            await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})
        await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def listening() -> AsyncIterator[int]:
    server = Server(uvicorn.Config(app, HOST, 0, lifespan="off", log_config=None, ws="websockets-sansio"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    assert (server.config.http_protocol_class, server.config.ws_protocol_class) == (Requests, Messages)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


class Line:
    """A raw connection."""

    lines: ClassVar[list["Line"]] = []

    @classmethod
    async def to(cls, port, start=b""):
        self = cls()
        cls.lines.append(self)
        self.reader, self.writer = await asyncio.open_connection(HOST, port)
        self.writer.write(start)
        return self

    @classmethod
    async def tab(cls, port):
        self = await cls.to(
            port,
            b"GET /_stcore/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        )
        assert b" 101 " in await self.reader.readuntil(b"\r\n\r\n")
        return self

    def say(self, n_bytes, announced=None, first=0x82):
        """A frame, or its beginning."""
        size = n_bytes if announced is None else announced
        self.writer.write(bytes([first, 0x80 | 127]) + size.to_bytes(8, "big") + bytes(4) + b"x" * n_bytes)

    async def answer(self):
        """The next short message, or the closing code; None if neither came."""
        try:
            head = await asyncio.wait_for(self.reader.readexactly(2), SAFETY_NET)
            body = await self.reader.readexactly(head[1])
        except (ConnectionError, asyncio.IncompleteReadError):
            return None
        return int.from_bytes(body[:2], "big") if head[0] == 0x88 else int(body)

    async def over(self):
        """Return the data that the server sends before it closes the connection."""
        data = b""
        with suppress(ConnectionError):
            data = await asyncio.wait_for(self.reader.read(), SAFETY_NET)
        return data


def run(test):
    async def served():
        async with listening() as port:
            try:
                await test(port)
            finally:
                while Line.lines:
                    writer = Line.lines.pop().writer
                    writer.transport.abort()
                    with suppress(ConnectionError):
                        await writer.wait_closed()

    finish(served())


def test_message_in_parts_arrives():
    async def test(port):
        tab = await Line.tab(port)
        for n in (0, 7, 70_000, limits.MESSAGE_BYTES):
            tab.say(n)
            assert await tab.answer() == n
        for first, n in ((0x02, 11), (0x00, 13), (0x80, 17)):
            tab.say(n, first=first)
        assert await tab.answer() == 41
        assert connections._partial_messages.bytes == 0

    run(test)


def test_long_message_is_refused_early():
    async def test(port):
        tab = await Line.tab(port)
        tab.say(10, announced=limits.MESSAGE_BYTES + 1)
        assert await tab.answer() == 1009
        many = await Line.tab(port)
        many.say(0, first=0x02)
        for _ in range(limits.MESSAGE_BYTES // connections.FRAGMENT + 1):
            many.say(0, first=0x00)
        assert await many.answer() == 1009, "empty parts take memory too"

    run(test)


def test_partial_messages_are_bounded():
    """Of 60 x 0.9 MB an address holds 3; who has held them longest is disconnected."""

    async def test(port):
        visitor, tabs = await Line.tab(port), [await Line.tab(port) for _ in range(60)]
        for tab in tabs:
            tab.say(900_000 - SHORT, announced=900_000)
            await tab.writer.drain()
        ends = [await tab.answer() for tab in tabs[:-3]]
        assert set(ends) <= {1013, None} and len(ends) == 57
        assert 0 < connections._partial_messages.bytes <= 3_000_000
        visitor.say(5)
        assert await visitor.answer() == 5
        tabs[-1].writer.write(b"x" * SHORT)
        assert await tabs[-1].answer() == 900_000, "the last ones may still end theirs"
        for tab in tabs:
            tab.writer.close()
        while connections._partial_messages.bytes:
            await asyncio.sleep(0.01)

    run(test)


def test_largest_address_is_closed():
    class Connection:
        def __init__(self):
            self.is_closed = False

        def give_up(self):
            self.is_closed = True

    partial = PartialMessages(most=100, most_each=60)
    first, second, third, fourth = (Connection() for _ in range(4))
    partial.update(first, "a", 30)
    partial.update(second, "a", 25)
    partial.update(fourth, "b", 40)
    partial.update(third, "b", 10)
    assert [sender.is_closed for sender in (first, second, third, fourth)] == [True, False, False, False]
    partial.update(second, "a", 61)
    assert second.is_closed and partial.bytes == 50
    partial.update(fourth, "b", 0)
    partial.update(third, "b", 0)
    assert partial.bytes == 0 and partial._bytes_by_address == {}


def test_a_message_has_its_time(monkeypatch):
    monkeypatch.setattr(limits, "MESSAGE_SECONDS", 0.3)

    async def test(port):
        slow, quiet = await Line.tab(port), await Line.tab(port)
        slow.say(10, announced=1_000)
        reading, n = asyncio.create_task(slow.answer()), 0
        while not reading.done():
            slow.writer.write(b"x")
            n += 1
            await asyncio.sleep(0.02)
        assert await reading in (1013, None)
        assert n > 1, "it was cut off while it went on sending"
        quiet.say(3)
        assert await quiet.answer() == 3, "who says nothing is a visitor who reads"

    run(test)


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_slow_request_times_out(monkeypatch, before):
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.3)

    async def test(port):
        line = await Line.to(port, before)
        if before:
            await line.reader.readuntil(b"done")
        reading, n = asyncio.create_task(line.over()), 0
        while not reading.done():
            line.writer.write(b"GET / HTTP/1.1\r\nX: "[n : n + 1] or b"x")
            n += 1
            await asyncio.sleep(0.02)
        assert not await reading or b" 408 " in await reading
        assert n > 1, "it was cut off while it went on sending"

    run(test)


def test_link_length_is_limited():
    async def test(port):
        for n, expected in ((40_000, b" 200 "), (limits.HEAD_BYTES + 1_000, b" 400 ")):
            line = await Line.to(port, b"GET /?text=" + b"x" * n)
            await line.writer.drain()
            await asyncio.sleep(0.1)
            with suppress(ConnectionError):
                line.writer.write(b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert expected in await line.over()

    run(test)


def test_reading_tab_is_not_slow(monkeypatch):
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.1)

    async def test(port):
        tab = await Line.tab(port)
        await asyncio.sleep(0.5)
        tab.say(3)
        assert await tab.answer() == 3

    run(test)


def test_unread_answer_is_dropped(monkeypatch):
    monkeypatch.setattr(limits, "STUCK_SECONDS", 0.3)

    async def test(port):
        line = await Line.to(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(1)
        assert len(await line.over()) < 20_000_000

    run(test)


def test_connections_count_by_address(monkeypatch):
    monkeypatch.setattr(limits, "CONNECTIONS_EACH", 5)

    async def test(port):
        tabs = [await Line.tab(port) for _ in range(9)]
        lines = [await Line.to(port, b"GET") for _ in range(5)]
        await asyncio.sleep(0.1)
        assert await (await Line.to(port, b"GET")).over() == b"", "tabs are counted as tabs, the rest here"
        lines.pop().writer.close()
        while connections._connected[HOST] > 4:
            await asyncio.sleep(0.01)
        last = await Line.to(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b" 200 " in await last.over()
        assert len(tabs) == 9
        for line in lines:
            line.writer.close()
        while connections._connected:
            await asyncio.sleep(0.01)

    run(test)
