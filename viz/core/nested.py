"""Every tensor inside a value: of a mapping, a tuple or a dataclass, and of what these hold."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torch import Tensor

T = TypeVar("T")


def map_tensors(value: T, change: Callable[[Tensor], Tensor]) -> T:
    """Apply a function to every tensor in a nested value."""
    result: Any = value
    if isinstance(value, Tensor):
        result = change(value)
    elif isinstance(value, Mapping):
        result = {name: map_tensors(part, change) for name, part in value.items()}
    elif isinstance(value, tuple):
        result = tuple(map_tensors(part, change) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: map_tensors(getattr(value, field.name), change) for field in fields(value)}
        result = replace(value, **parts)
    return result


def double(value: T) -> T:
    """Convert to float64, in which two formulas for one thing differ by rounding alone."""
    return map_tensors(value, lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)
