"""How much memory a result holds."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any


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
