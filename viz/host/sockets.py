"""The browser tabs connected to this server, their number by address, and the idlest one."""

import asyncio
import time
from dataclasses import dataclass, field

from viz import limits
from viz.host import descriptors


@dataclass(eq=False)
class Socket:
    """One connected tab; ``leave`` is set when it must give way."""

    address: str
    last_message: float = field(default_factory=time.monotonic)
    leave: asyncio.Event = field(default_factory=asyncio.Event)


class Sockets:
    """All connected tabs, no more than allowed in all and from one address; fewer if descriptors are short.

    A tab without a message for ``idle`` seconds may be closed to make room.
    """

    def __init__(
        self, most: int | None = None, most_each: int = limits.SOCKETS_EACH, idle: float = limits.IDLE_SECONDS
    ) -> None:
        self.most = descriptors.most_tabs() if most is None else most
        self.most_each, self.idle = most_each, idle
        self._open: dict[str, list[Socket]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def room(self, address: str) -> bool:
        """Return whether one more tab may connect from this address, possibly replacing an idle one."""
        return not self._crowd(address) or self._idlest(self._crowd(address)) is not None

    def admit(self, address: str) -> Socket | None:
        """Add a tab and return its socket; None if there is no room."""
        if crowd := self._crowd(address):
            idlest = self._idlest(crowd)
            if idlest is None:
                return None
            idlest.leave.set()
            self.forget(idlest)
        socket = Socket(address)
        self._open.setdefault(address, []).append(socket)
        return socket

    def forget(self, socket: Socket) -> None:
        """Remove a socket; a second call does nothing."""
        theirs = self._open.get(socket.address, [])
        if socket in theirs:
            theirs.remove(socket)
        if not theirs:
            self._open.pop(socket.address, None)

    def _crowd(self, address: str) -> list[Socket]:
        """Return the tabs one of which has to be closed to make room; none if there is room."""
        theirs = self._open.get(address, [])
        if len(theirs) >= self.most_each:
            return theirs
        return [socket for sockets in self._open.values() for socket in sockets] if len(self) >= self.most else []

    def _idlest(self, crowd: list[Socket]) -> Socket | None:
        longest = min(crowd, key=lambda socket: socket.last_message)
        return longest if time.monotonic() - longest.last_message > self.idle else None
