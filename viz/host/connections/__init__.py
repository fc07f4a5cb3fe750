"""Limits that stand before any request: connections of an address, time to say a request, bytes of half a message.

They belong to uvicorn's own protocols, which know neither; :func:`limit_connections` puts these in their place.
"""

import asyncio
from collections import Counter
from typing import Any

from starlette.datastructures import Headers
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import h11  # type: ignore[attr-defined]
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import Server

from viz import limits
from viz.host import descriptors
from viz.host.address import address_of
from viz.host.connections.unfinished import PartialMessages

LATER, TOO_BIG = 1013, 1009
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
MALFORMED = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
FRAGMENT = 64
"""Bytes counted for a part of a message beside what is in it: empty parts take memory too."""

_partial_messages = PartialMessages()
_connected = Counter[str]()
_beside_tabs = dict["Requests", None]()
"""Connections that are no tab's, the oldest first."""


class Clock:
    """Time that something may take, from when it is wound until it is stopped."""

    def __init__(self, seconds: float, over: Any) -> None:
        self.seconds, self.over = seconds, over
        self._timer: asyncio.TimerHandle | None = None

    def wind(self) -> None:
        """Begin, unless it goes already."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._over)

    def stop(self) -> None:
        """It was in time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self) -> None:
        self._timer = None
        self.over()


class Requests(AutoHTTPProtocol):  # type: ignore[misc]
    """Connections that ask: not too many of one address, and each says what it wants in time."""

    def connection_made(self, transport: Any) -> None:
        """Somebody comes."""
        super().connection_made(transport)
        self._is_tab = False
        self._head = Clock(limits.HEAD_SECONDS, self._too_slow)
        self._stuck = Clock(limits.STUCK_SECONDS, transport.abort)
        # Behind a proxy all come from its address; then it is the proxy that counts them (deploy/nginx.conf).
        self._peer = "" if limits.PROXIES else (self.client or ("",))[0]
        if self._peer:
            _connected[self._peer] += 1
            if _connected[self._peer] > limits.CONNECTIONS_EACH:
                transport.abort()
        self._head.wind()
        _beside_tabs[self] = None
        if len(_beside_tabs) > descriptors.most_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Some of a request."""
        before = self.cycle
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # uvicorn's 400, where an answer has begun
            self.transport.close()
        if self.cycle is not before:
            self._head.stop()
        elif not self._is_tab and (before is None or before.response_complete):
            self._head.wind()

    def pause_writing(self) -> None:
        """The other side does not read what it asked for."""
        super().pause_writing()
        self._stuck.wind()

    def resume_writing(self) -> None:
        """It does."""
        super().resume_writing()
        self._stuck.stop()

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """From now on it is a tab, and counted as one (viz/host/sockets.py)."""
        self._forget()
        self._is_tab = True
        super().handle_websocket_upgrade(*event)

    def connection_lost(self, error: Exception | None) -> None:
        """It is over."""
        self._forget()
        super().connection_lost(error)

    def _make_room(self) -> None:
        """End the oldest connection that asks for nothing now; if there is none, this one."""
        candidates = (connection for connection in _beside_tabs if connection is not self)
        idle = next(
            (connection for connection in candidates if not connection.cycle or connection.cycle.response_complete),
            None,
        )
        if idle is None:
            self.transport.write(CROWDED)
            self.transport.close()
        else:
            idle.transport.abort()
        _beside_tabs.pop(idle or self)

    def _forget(self) -> None:
        self._head.stop()
        self._stuck.stop()
        _beside_tabs.pop(self, None)
        if self._peer:
            _connected[self._peer] -= 1
            if not _connected[self._peer]:
                del _connected[self._peer]
            self._peer = ""

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(TOO_SLOW)
            self.transport.close()


class Messages(WebSocketsSansIOProtocol):
    """A tab's socket: a message is received whole in time, or not at all; all that is unfinished has a bound."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn.max_message_size = limits.MESSAGE_BYTES
        self._message_clock = Clock(limits.MESSAGE_SECONDS, self._too_slow)
        self._unread, self._address = 0, ""

    def handle_connect(self, event: Any) -> None:
        """The socket is asked for; now its address is known."""
        super().handle_connect(event)
        if self.handshake_initiated and not self.close_sent:
            scope: Any = self.scope
            self._address = address_of(scope, Headers(scope=scope), limits.PROXIES)

    def data_received(self, data: bytes) -> None:
        """Some of a message; first of all the whole head of the request for the socket."""
        super().data_received(data)
        if not self.handshake_initiated:  # it has a body or a long line, of which uvicorn would wait for the end
            self.transport.write(MALFORMED)
            self.transport.close()
        self._count()

    def send_receive_event_to_app(self) -> None:
        """A message is whole. One of text is refused (viz/host/inbox.py), and need not be decoded before."""
        if self.curr_msg_data_type == "text":
            self.frames = [b""]
        self._unread += sum(map(len, self.frames))
        super().send_receive_event_to_app()

    async def receive(self) -> Any:
        """It is read."""
        message: Any = await super().receive()
        self._unread -= len(message.get("bytes") or message.get("text") or b"")
        self._count()
        return message

    def _count(self) -> None:
        half = len(self.conn.reader.buffer) + sum(map(len, self.frames)) + FRAGMENT * len(self.frames)
        if self.disconnected or self.close_sent:
            half = 0
        if half > limits.MESSAGE_BYTES + FRAGMENT:
            self.give_up(TOO_BIG)
        elif half:
            self._message_clock.wind()
        else:
            self._message_clock.stop()
        _partial_messages.update(self, self._address, 0 if self.close_sent else half + max(0, self._unread))

    def _too_slow(self) -> None:
        if self.read_paused:  # it is we who do not read
            self._message_clock.wind()
        else:
            self.give_up()

    def give_up(self, code: int = LATER) -> None:
        """Let go of what was received, and close."""
        self.frames = []
        self.conn.fail(code)
        self.conn.reader.buffer.clear()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
        self._message_clock.stop()

    def connection_lost(self, error: Exception | None) -> None:
        """It is over."""
        super().connection_lost(error)
        self._message_clock.stop()
        _partial_messages.update(self, self._address, 0)


def limit_connections() -> None:
    """Every server of this process that starts from now on has these limits; Streamlit chooses its protocols itself."""
    startup = Server.startup

    async def limited(server: Server, *args: Any, **options: Any) -> None:
        server.config.http_protocol_class = Requests
        server.config.ws_protocol_class = Messages
        server.config.h11_max_incomplete_event_size = limits.HEAD_BYTES
        await startup(server, *args, **options)

    Server.startup = limited  # type: ignore[method-assign, assignment]
