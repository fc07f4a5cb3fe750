"""Memory that a result holds."""

from collections.abc import Container, Iterable, Mapping
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


def _parts(value: Any) -> Iterable[Any]:
    """Return the parts of a value that may be large."""
    from torch import nn  # not at the top: the scheduler is imported before anything that computes

    if isinstance(value, nn.Module):
        return *value.parameters(), *value.buffers()
    if isinstance(value, dict):
        return *value, *value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return ()


def size_of(value: Any, storages: dict[int, int]) -> int:
    """Return the bytes of a result outside its tensors: texts, bytes, containers.

    Args:
        value: the result.
        storages: receives the bytes of each tensor storage, by address.
    """
    from torch import Tensor

    if isinstance(value, Tensor):
        storage = value.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return 0
    if isinstance(value, str | bytes):
        return len(value) * (4 if isinstance(value, str) else 1)
    beside: int = (
        getattr(value, "held_bytes", 0) if is_dataclass(value) else 0
    )  # memory outside its fields, as it declares itself
    return 8 + beside + sum(size_of(part, storages) for part in _parts(value))


def make_entry(key: Any, value: Any, seconds: float, foreign_storages: Container[int] = ()) -> Entry:
    """Return the cache entry for a result, without ``foreign_storages``, which are counted elsewhere."""
    storages: dict[int, int] = {}
    other_bytes = OVERHEAD + size_of(key, {}) + size_of(value, storages)
    return Entry(value, other_bytes, {at: size for at, size in storages.items() if at not in foreign_storages}, seconds)
