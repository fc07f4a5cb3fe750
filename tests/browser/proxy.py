"""A TCP proxy in front of a server, whose connections can be cut as a network, a proxy or a server does."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from urllib.parse import urlparse

ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: the connection is reset, not closed."""


class Proxy:
    """A proxy on a free port of this machine, made by :func:`proxy`.

    Args:
        url: of the server behind it.
    """

    def __init__(self, url: str) -> None:
        behind = urlparse(url)
        self._behind = behind.hostname or "", behind.port or 80
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock, self._open = Lock(), set[socket.socket]()
        Thread(target=self._accept, daemon=True).start()

    def cut(self, *, abort: bool) -> None:
        """End all connections: reset them, or close them in order."""
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            with suppress(OSError):
                if abort:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
                # A thread waits for data of it: until that is woken, closing has no effect.
                end.shutdown(socket.SHUT_RD if abort else socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        """End it, with all its connections."""
        self._listener.close()
        self.cut(abort=False)

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                front, _ = self._listener.accept()
                back = socket.create_connection(self._behind)
                with self._lock:
                    self._open |= {front, back}
                for end in (front, back):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
                for ends in ((front, back), (back, front)):
                    Thread(target=self._send_on, args=ends, daemon=True).start()

    def _send_on(self, source: socket.socket, target: socket.socket) -> None:
        """Send on what comes, until either end is closed."""
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        self._end(source, target)

    def _end(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._open.discard(source)
        source.close()


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """Run a proxy in front of a server until the block ends."""
    running = Proxy(url)
    try:
        yield running
    finally:
        running.close()
