"""How much memory a result holds."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

OVERHEAD = 1_000
"""Bytes counted for an entry beside what it holds."""


@dataclass(frozen=True)
class Entry:
    """A result, its bytes beside its tensors, and where those lie, with the bytes of each storage; how long it took."""

    value: Any
    own: int
    storages: Mapping[int, int]
    seconds: float

    @property
    def size(self) -> int:
        """Bytes, those included that others hold as well."""
        return self.own + sum(self.storages.values())


def _parts(value: Any) -> Iterable[Any]:
    """What a value is made of, as far as it may be large."""
    from torch import nn  # whoever asks has computed something; the lines of who computes are there before

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
    """Bytes held by a result beside its tensors: texts, bytes, containers.

    Args:
        value: the result.
        storages: where its tensors lie, and how many bytes each storage has, is added here.
    """
    from torch import Tensor

    if isinstance(value, Tensor):
        storage = value.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return 0
    if isinstance(value, str | bytes):
        return len(value) * (4 if isinstance(value, str) else 1)
    beside: int = getattr(value, "held_bytes", 0) if is_dataclass(value) else 0  # what it says of itself
    return 8 + beside + sum(size_of(part, storages) for part in _parts(value))


def entry_of(key: Any, value: Any, seconds: float, apart: Container[int] = ()) -> Entry:
    """A result for a store, and what it is kept by; without the storages ``apart``, which are counted elsewhere."""
    storages: dict[int, int] = {}
    own = OVERHEAD + size_of(key, {}) + size_of(value, storages)
    return Entry(value, own, {at: size for at, size in storages.items() if at not in apart}, seconds)
