"""Bytes of partial and unread messages, in all and by address."""

import time
from collections.abc import Hashable
from typing import Protocol

from viz import limits


class Sender(Hashable, Protocol):
    """A connection that buffers bytes and can be closed."""

    def give_up(self) -> None:
        """Drop the partial message and close."""


class PartialMessages:
    """Bytes held by each connection. Above the limit, the oldest connection is closed."""

    def __init__(self, most: int = limits.UNFINISHED_BYTES, most_each: int = limits.UNFINISHED_BYTES_EACH) -> None:
        self.most, self.most_each = most, most_each
        self.bytes = 0
        self._bytes_by_address: dict[str, dict[Sender, tuple[float, int]]] = {}

    def update(self, sender: Sender, address: str, n_bytes: int) -> None:
        """Set the number of bytes that a connection holds."""
        theirs = self._bytes_by_address.setdefault(address, {})
        since, before = theirs.pop(sender, (time.monotonic(), 0))
        self.bytes += n_bytes - before
        if n_bytes:
            theirs[sender] = since, n_bytes
        elif not theirs:
            del self._bytes_by_address[address]
        if n_bytes > before:
            self._make_room(address)

    def of(self, address: str) -> int:
        """Bytes that the connections of an address update."""
        return sum(size for _, size in self._bytes_by_address.get(address, {}).values())

    def _make_room(self, address: str) -> None:
        """Close the oldest connection of this address if it is above its limit, else of the address with most bytes."""
        while (much := self.of(address) > self.most_each) or self.bytes > self.most:
            crowd = address if much else max(self._bytes_by_address, key=self.of)
            longest = min(self._bytes_by_address[crowd], key=lambda sender: self._bytes_by_address[crowd][sender][0])
            self.update(longest, crowd, 0)
            longest.give_up()
