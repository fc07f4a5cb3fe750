"""Memory that a result holds."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

OVERHEAD = 1_000
"""Bytes counted for an entry beside its contents."""


@dataclass(frozen=True)
class Entry:
    """A result with its size: bytes outside tensors, bytes by storage address, and the seconds it took."""

    value: Any
    other_bytes: int
    storages: Mapping[int, int]
    seconds: float

    @property
    def size(self) -> int:
        """Bytes in all, including storages that other entries share."""
        return self.other_bytes + sum(self.storages.values())


def size_of(value: Any, storages: dict[int, int]) -> int:
    """Return the bytes of a result outside its tensors: texts, bytes, containers.

    ``storages`` receives the bytes of each tensor storage, by address.
    """
    # These are imported late: the scheduler is imported before anything that computes.
    from torch import Tensor, nn

    n_bytes, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Tensor):
            storage = part.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
            continue
        if isinstance(part, str | bytes):
            n_bytes += len(part) * (4 if isinstance(part, str) else 1)
            continue
        n_bytes += 8
        if isinstance(part, nn.Module):
            waiting += [*part.parameters(), *part.buffers()]
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += part
        elif is_dataclass(part) and not isinstance(part, type):
            waiting += [getattr(part, field.name) for field in fields(part)]
            # A result may declare memory outside its fields.
            n_bytes += getattr(part, "held_bytes", 0)
    return n_bytes


def make_entry(key: Any, value: Any, seconds: float, foreign_storages: Container[int] = ()) -> Entry:
    """Return the cache entry for a result, without ``foreign_storages``, which are counted elsewhere."""
    storages: dict[int, int] = {}
    other_bytes = OVERHEAD + size_of(key, {}) + size_of(value, storages)
    return Entry(value, other_bytes, {at: size for at, size in storages.items() if at not in foreign_storages}, seconds)
