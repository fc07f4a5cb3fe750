"""Limits below the requests: connections per address, time for a request head, bytes of partial messages.

uvicorn's protocols have no such limits; :func:`limit_connections` installs subclasses that do.
"""

import asyncio
import time
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
from viz.host.connections.partial_messages import PartialMessages

LATER, TOO_BIG, NOT_ALLOWED = 1013, 1009, 1008
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
MALFORMED = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
FRAGMENT = 64
"""Overhead in bytes counted for a fragment of a message: empty fragments take memory too."""

CLOSE_SECONDS = 1
"""Wait for a client's answer to a closing frame; browsers give it at once."""
CONTROL_FRAMES, CONTROL_FRAMES_A_SECOND = 20, 1
"""Pings and pongs of one socket, at once and later. Browsers send a pong for each of uvicorn's pings, every 20 s."""
PIECE = 4096
"""Bytes to parse between two looks at the limits: 64 KiB may hold ten thousand pings."""

_partial_messages = PartialMessages()
_connected = Counter[str]()
_beside_tabs = dict["Requests", None]()
"""Connections other than tabs, the oldest first."""


class Clock:
    """A timeout that calls ``over`` unless it is stopped in time."""

    def __init__(self, seconds: float, over: Any) -> None:
        self.seconds, self.over = seconds, over
        self._timer: asyncio.TimerHandle | None = None

    def wind(self) -> None:
        """Start the timer unless it is running."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._over)

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self) -> None:
        self._timer = None
        self.over()


class Requests(AutoHTTPProtocol):  # type: ignore[misc]
    """An HTTP connection with a limit per address and a timeout for the request head."""

    def connection_made(self, transport: Any) -> None:
        """Count the connection; abort it if its address has too many."""
        super().connection_made(transport)
        self._is_tab = False
        self._head = Clock(limits.HEAD_SECONDS, self._too_slow)
        self._stuck = Clock(limits.STUCK_SECONDS, transport.abort)
        # Behind a proxy all connections have its address; then the proxy counts them (deploy/nginx.conf).
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
        """Receive part of a request; stop the head's timeout once it is complete."""
        before = self.cycle
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # uvicorn sends its 400 although an answer has begun.
            self.transport.close()
        if self.cycle is not before:
            self._head.stop()
        elif not self._is_tab and (before is None or before.response_complete):
            self._head.wind()

    def pause_writing(self) -> None:
        """Start the timeout of a client that does not read its answer."""
        super().pause_writing()
        self._stuck.wind()

    def resume_writing(self) -> None:
        """Stop that timeout."""
        super().resume_writing()
        self._stuck.stop()

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """Count the connection as a tab (viz/host/sockets.py) from now on."""
        self._forget()
        self._is_tab = True
        super().handle_websocket_upgrade(*event)

    def connection_lost(self, error: Exception | None) -> None:
        """Stop counting the connection."""
        self._forget()
        super().connection_lost(error)

    def _make_room(self) -> None:
        """End the oldest idle connection; if there is none, this one."""
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
    """A tab's WebSocket with a timeout for each message and a bound on the bytes of partial ones."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn.max_message_size = limits.MESSAGE_BYTES
        self._message_clock = Clock(limits.MESSAGE_SECONDS, self._too_slow)
        self.close_timeout = CLOSE_SECONDS
        self._unread, self._address = 0, ""
        self._control_frames, self._refill_time = float(CONTROL_FRAMES), time.monotonic()

    def handle_connect(self, event: Any) -> None:
        """Note the client's address at the handshake."""
        super().handle_connect(event)
        if self.handshake_initiated and not self.close_sent:
            scope: Any = self.scope
            self._address = address_of(scope, Headers(scope=scope), limits.PROXIES)

    def data_received(self, data: bytes) -> None:
        """Receive part of a message, or the head of the handshake."""
        for start in range(0, len(data), PIECE):
            if not self.close_sent:
                super().data_received(data[start : start + PIECE])
        # uvicorn would wait for the end of a body or of a long line.
        if not self.handshake_initiated:
            self.transport.write(MALFORMED)
            self.transport.close()
        self._count()

    def handle_ping(self) -> None:
        """Answer a ping, unless there were too many."""
        if self._allow_control_frame():
            super().handle_ping()

    def handle_pong(self, event: Any) -> None:
        """Note the answer to a ping; close if there were too many."""
        if self._allow_control_frame():
            super().handle_pong(event)

    def _allow_control_frame(self) -> bool:
        now = time.monotonic()
        refilled = self._control_frames + (now - self._refill_time) * CONTROL_FRAMES_A_SECOND
        self._control_frames, self._refill_time = min(refilled, CONTROL_FRAMES) - 1, now
        if self._control_frames < 0 and not self.close_sent:
            self.give_up(NOT_ALLOWED)
        return not self.close_sent

    def send_receive_event_to_app(self) -> None:
        """Pass on a complete message; a text is emptied undecoded, as viz/host/message_filter.py refuses texts."""
        if self.curr_msg_data_type == "text":
            self.frames = [b""]
        self._unread += sum(map(len, self.frames))
        super().send_receive_event_to_app()

    async def receive(self) -> Any:
        """Return the next message and stop counting its bytes."""
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
        # This server has paused reading.
        if self.read_paused:
            self._message_clock.wind()
        else:
            self.give_up()

    def give_up(self, code: int = LATER) -> None:
        """Drop the partial message and close."""
        self.frames = []
        self.conn.fail(code)
        self.conn.reader.buffer.clear()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
        self._message_clock.stop()

    def connection_lost(self, error: Exception | None) -> None:
        """Stop counting the socket's bytes."""
        super().connection_lost(error)
        self._message_clock.stop()
        _partial_messages.update(self, self._address, 0)


def limit_connections() -> None:
    """Install these limits in every uvicorn server started from now on; Streamlit has no setting for its protocols."""
    startup = Server.startup

    async def limited(server: Server, *args: Any, **options: Any) -> None:
        server.config.http_protocol_class = Requests
        server.config.ws_protocol_class = Messages
        server.config.h11_max_incomplete_event_size = limits.HEAD_BYTES
        await startup(server, *args, **options)

    Server.startup = limited  # type: ignore[method-assign, assignment]
