"""What is sent in one go is one write to the browser's connection, and nothing of it is lost at the end."""

import asyncio
from typing import Any

from uvicorn import Config
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol
from uvicorn.server import ServerState

from tests.coroutines import finish
from viz.streamlit_internals.writes import OneWrite, write_together


class Transport:
    """A connection to a browser, and what is done with it."""

    def __init__(self) -> None:
        self.done = list[Any]()

    def write(self, part: bytes) -> None:
        self.done.append(part)

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return False


def test_what_is_written_in_one_turn_of_the_loop_is_one_write():
    async def run() -> None:
        transport = Transport()
        together = OneWrite(transport, asyncio.get_running_loop())
        for part in (b"one ", b"two ", b"three"):
            together.write(part)
        assert transport.done == []
        await asyncio.sleep(0)
        assert transport.done == [b"one two three"]
        assert not together.is_closing(), "all else is the connection's own"
        together.write(b"the last")
        together.close()
        await asyncio.sleep(0)
        assert transport.done == [b"one two three", b"the last", "closed"]

    finish(run())


def test_every_open_connection_writes_together_and_once():
    async def run() -> None:
        protocol, transport = connection(), Transport()
        protocol.transport = transport
        answers, other = (asyncio.create_task(work()) for work in (protocol.run_asgi, asyncio.Event().wait))
        await asyncio.sleep(0)
        for _ in range(2):
            write_together(asyncio.get_running_loop())
        assert isinstance(protocol.transport, OneWrite)
        assert protocol.transport._transport is transport
        for task in (answers, other):
            task.cancel()
        await asyncio.gather(answers, other, return_exceptions=True)

    finish(run())


def connection() -> Any:
    """A connection of the server's own kind, which answers as long as it is open."""

    async def app(_scope: Any, _receive: Any, _send: Any) -> None:
        await asyncio.Event().wait()

    config = Config(app, log_config=None)
    config.load()
    kind: Any = AutoWebSocketsProtocol
    made = kind(config=config, server_state=ServerState(), app_state={}, _loop=asyncio.get_running_loop())
    made.app, made.scope = app, {"type": "websocket"}
    return made
