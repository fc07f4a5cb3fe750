"""Limits on size, rate and type of the messages from a browser."""

import asyncio
import time

from starlette.types import Message, Receive

from viz import limits
from viz.host.sockets import Socket
from viz.streamlit_internals.hosted import message_type

PAGES_SEND = ("rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "deferred_file", "dataframe_chunk")
"""Message types of a page; of the others, clear_cache would empty all caches, install_skills write files."""
MOST = {
    "controls": limits.MESSAGE_CONTROLS,
    "link": limits.MESSAGE_LINK,
    "parameters": limits.LINK_PARAMETERS,
    "states": limits.MESSAGE_STATES,
    "files": limits.UPLOADS_EACH,
}
"""Limits of one message."""
MALFORMED, NO_TEXT, NOT_ALLOWED, TOO_BIG, LATER = 1002, 1003, 1008, 1009, 1013
"""Close codes of RFC 6455 and its registry."""


class MessageFilter:
    """Filter of a socket's messages by size, rate and type; a violation ends the connection."""

    def __init__(self, socket: Socket, receive: Receive) -> None:
        self.socket, self.receive = socket, receive
        self.close_code: int | None = None
        self._allowance, self._refill_time = float(limits.MESSAGES_AT_ONCE), time.monotonic()

    async def __call__(self) -> Message:
        """Return the next message of an allowed type; drop others, and close the connection at a malformed one."""
        while (message := await self._next())["type"] == "websocket.receive":
            self.socket.last_message = time.monotonic()
            await self._slow_down()
            if message.get("bytes") is None:
                return self._hang_up(NO_TEXT)
            if not message["bytes"]:
                return self._hang_up(MALFORMED)
            if len(message["bytes"]) > limits.MESSAGE_BYTES:
                return self._hang_up(TOO_BIG)
            try:
                kind = message_type(message["bytes"], MOST)
            except Exception:
                # A page sends no message that raises, neither protobuf's errors nor ours.
                return self._hang_up(MALFORMED)
            if kind in PAGES_SEND:
                break
        return message

    async def _next(self) -> Message:
        """Return the next message, or a disconnect if the socket must make room for another."""
        coming = asyncio.ensure_future(self.receive())
        leaving = asyncio.ensure_future(self.socket.leave.wait())
        try:
            await asyncio.wait((coming, leaving), return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else self._hang_up(LATER)
        finally:
            coming.cancel()
            leaving.cancel()

    def _hang_up(self, code: int) -> Message:
        self.close_code = code
        return {"type": "websocket.disconnect", "code": code}

    async def _slow_down(self) -> None:
        """Wait while the token bucket is empty; it fills at the allowed rate."""
        now = time.monotonic()
        self._allowance += (now - self._refill_time) * limits.MESSAGES_A_SECOND
        self._allowance, self._refill_time = min(self._allowance, limits.MESSAGES_AT_ONCE) - 1, now
        if self._allowance < 0:
            await asyncio.sleep(-self._allowance / limits.MESSAGES_A_SECOND)
