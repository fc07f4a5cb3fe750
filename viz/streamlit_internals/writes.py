"""What is sent in one go is one write: by private names of Streamlit's server, as all in this folder.

The server writes each message to its browser's connection by itself, which makes a packet of each. The browser has the
first one while the others are on their way: it goes through its whole page to mark it as out of date, and paints that.
"""

import asyncio
from inspect import getcoroutinelocals, iscoroutine
from typing import Any

from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

_CONNECTION: Any = AutoWebSocketsProtocol
"""What holds a browser's connection; its task answers for it as long as that is open."""


class OneWrite:
    """A connection's transport: what is written within one turn of the event loop is written together, after it."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts = list[bytes]()

    def write(self, part: bytes) -> None:
        """Write it, with what is written before other work is done."""
        if not self._parts:
            self._loop.call_soon(self._write)
        self._parts.append(part)

    def close(self) -> None:
        """Close the connection when all is written."""
        self._write()
        self._transport.close()

    def _write(self) -> None:
        if self._parts:
            self._transport.write(b"".join(self._parts))
            self._parts.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def write_together(loop: asyncio.AbstractEventLoop) -> None:
    """Have what is sent to each browser that is connected now written together."""
    for task in asyncio.all_tasks(loop):
        coroutine = task.get_coro()
        connection = getcoroutinelocals(coroutine).get("self") if iscoroutine(coroutine) else None
        if isinstance(connection, _CONNECTION) and not isinstance(connection.transport, OneWrite):
            connection.transport = OneWrite(connection.transport, loop)
