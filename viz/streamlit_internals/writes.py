"""What is sent in one go is one write: by private names of Streamlit's server, as all in this folder.

The server writes each message to its browser's connection by itself, which makes a packet of each. The browser has the
first one while the others are on their way: it goes through its whole page to mark it as out of date, and paints that.
"""

import asyncio
from functools import partial
from inspect import getcoroutinelocals, iscoroutine
from typing import Any

from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from viz.streamlit_internals.containment import attempt

_CONNECTION: Any = AutoWebSocketsProtocol
"""What holds a browser's connection; its task answers for it as long as that is open."""


class OneWrite:
    """A connection's transport: what is written within one turn of the event loop is written together, after it."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts = list[bytes]()

    def write(self, part: bytes) -> None:
        """Write it, with what is written before other work is done."""
        attempt("writes", self, partial(self._add, part), partial(self._write_now, part))

    def close(self) -> None:
        """Close the connection when all is written."""
        self._write()
        self._transport.close()

    def _add(self, part: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._write)
        self._parts.append(part)

    def _write_now(self, part: bytes) -> None:
        self._write()
        self._transport.write(part)

    def _write(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            attempt("writes", self, lambda: self._transport.write(b"".join(parts)), lambda: self._write_singly(parts))

    def _write_singly(self, parts: list[bytes]) -> None:
        for part in parts:
            self._transport.write(part)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def write_together(loop: asyncio.AbstractEventLoop) -> None:
    """Have what is sent to each browser that is connected now written together."""
    for task in asyncio.all_tasks(loop):
        coroutine = task.get_coro()
        connection = getcoroutinelocals(coroutine).get("self") if iscoroutine(coroutine) else None
        if isinstance(connection, _CONNECTION) and not isinstance(connection.transport, OneWrite):
            connection.transport = OneWrite(connection.transport, loop)
