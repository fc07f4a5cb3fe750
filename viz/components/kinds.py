"""Kinds of values that a view may send: each one returns a value that fits, and refuses any other.

A browser may send anything that JSON can hold. No kind follows a value deeper than it describes.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

Kind = Callable[[Any], Any]

LARGEST = 2**53 - 1
"""The largest whole number that JavaScript counts to."""


class MisfitError(ValueError):
    """A value that its kind does not allow."""


@dataclass(frozen=True)
class Integer:
    """A whole number."""

    low: int = 0
    high: int = LARGEST

    def __call__(self, value: Any) -> int:
        """Return the number; True is none."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise MisfitError
        return value


@dataclass(frozen=True)
class Real:
    """A number with a point, or without; NaN is in no range."""

    low: float
    high: float

    def __call__(self, value: Any) -> float:
        """Return the number as a float; True is none."""
        if type(value) not in (int, float) or not self.low <= value <= self.high:
            raise MisfitError
        return float(value)


class Flag:
    """True or False."""

    def __call__(self, value: Any) -> bool:
        """Return it; 0 and 1 are neither."""
        if type(value) is not bool:
            raise MisfitError
        return value


class OneOf:
    """One of a few codes."""

    def __init__(self, *codes: str) -> None:
        self.codes = codes

    def __call__(self, value: Any) -> str:
        """Return the code."""
        if type(value) is not str or value not in self.codes:
            raise MisfitError
        return value


@dataclass(frozen=True)
class Text:
    """A text of at most so many characters; ``reads`` raises ValueError for one that means nothing."""

    longest: int
    reads: Callable[[str], Any] = field(default=str)

    def __call__(self, value: Any) -> str:
        """Return the text as it was sent."""
        if type(value) is not str or len(value) > self.longest:
            raise MisfitError
        self.reads(value)
        return value


@dataclass(frozen=True)
class Many:
    """A list of values of one kind."""

    kind: Kind
    most: int
    least: int = 0

    def __call__(self, value: Any) -> list[Any]:
        """Return the values; none of them if one does not fit."""
        if type(value) is not list or not self.least <= len(value) <= self.most:
            raise MisfitError
        return [self.kind(part) for part in value]


@dataclass(frozen=True)
class Optional:
    """A field that may be missing or null."""

    kind: Kind

    def __call__(self, value: Any) -> Any:
        """Return the value, or None."""
        return None if value is None else self.kind(value)


class Either:
    """A value of one of some kinds."""

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = kinds

    def __call__(self, value: Any) -> Any:
        """Return what the first kind makes of it that it fits."""
        for kind in self.kinds:
            with suppress(ValueError):
                return kind(value)
        raise MisfitError


class Fields:
    """Values by name, each of its own kind."""

    def __init__(self, **kinds: Kind) -> None:
        self.kinds = kinds

    def __call__(self, value: Any) -> dict[str, Any]:
        """Return the fields that are not null; names without a kind are left out."""
        if not isinstance(value, Mapping):
            raise MisfitError
        fields = {name: kind(value.get(name)) for name, kind in self.kinds.items()}
        return {name: part for name, part in fields.items() if part is not None}
