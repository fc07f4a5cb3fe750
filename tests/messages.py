"""Messages that a view may send, and messages that none does, made from the kinds that the view declares."""

import math
from collections.abc import Iterator
from typing import Any

from pages.masks.editor import CODE
from viz.components.kinds import LARGEST, Either, Fields, Flag, Integer, Kind, Many, OneOf, Optional, Real, Text

CODES = {CODE: "3.m4A"}
"""Texts that mean something, for kinds that read them."""

NASTY: list[Any] = [
    None, True, -1, 0.5, 10**30, 10**400, -(10**400), 1e308, math.nan, math.inf, "", "x", "x" * 20_000, "1", "\0\ud800",
    [], [[]], [None], [-1, -1], [math.nan] * 3, [0] * 10_000, ["x"] * 50, {}, {"__class__": "int"}, {"value": {}},
]  # fmt: skip
NESTED: Any = []
for _ in range(200):
    NESTED = [NESTED]
NASTY.append(NESTED)


def example(kind: Kind, *, last: bool = False) -> Any:  # noqa: PLR0911
    """Return a value that fits a kind, the least that it allows or the ``last``."""
    match kind:
        case Integer() | Real():
            return kind.high if last else kind.low
        case Flag():
            return last
        case OneOf():
            return kind.codes[-last]
        case Text():
            return CODES.get(kind, "x" * kind.longest if last else "x")
        case Many():
            return [example(kind.kind, last=last)] * (kind.most if last else kind.least)
        case Optional():
            return example(kind.kind, last=last)
        case Either():
            return example(kind.kinds[-last], last=last)
        case Fields():
            return {name: example(part, last=last) for name, part in kind.kinds.items()}
    raise TypeError(kind)


def fits(kind: Kind, value: Any) -> bool:  # noqa: PLR0911
    """Return whether a value is of a kind, by what the kind says and not by calling it."""
    match kind:
        case Integer():
            return type(value) is int and kind.low <= value <= kind.high
        case Real():
            return type(value) is float and kind.low <= value <= kind.high
        case Flag():
            return value is True or value is False
        case OneOf():
            return isinstance(value, str) and value in kind.codes
        case Text():
            return isinstance(value, str) and len(value) <= kind.longest and (kind not in CODES or value in CODES[kind])
        case Many():
            return kind.least <= len(value) <= kind.most and all(fits(kind.kind, part) for part in value)
        case Optional():
            return fits(kind.kind, value)
        case Either():
            return any(fits(part, value) for part in kind.kinds)
        case Fields():
            required = {name for name, part in kind.kinds.items() if not isinstance(part, Optional)}
            return required <= value.keys() <= kind.kinds.keys() and all(
                fits(kind.kinds[name], value[name]) for name in value
            )
    raise TypeError(kind)


def hostile(kind: Kind) -> Iterator[Any]:
    """Yield states of a message: values that may not fit, in whole and in part, and envelopes that are none."""
    good = example(kind)
    yield from NASTY
    yield from ({"value": value, "sent": 1} for value in (*NASTY, *_spoilt(kind)))
    yield from ({"value": good, "sent": number} for number in (*NASTY, LARGEST + 1))
    yield from ({"value": good}, {"sent": 1}, {"choice": good, "n": 1}, good)


def _spoilt(kind: Kind) -> Iterator[Any]:
    """Yield values of a kind with one part of them spoilt."""
    match kind:
        case Integer() | Real():
            yield from (kind.low - 1, kind.high + 1)
        case Text():
            yield "x" * (kind.longest + 1)
        case Many():
            good = example(kind.kind)
            yield from ([good] * (kind.most + 1), [good] * (kind.least - 1))
            yield from ([part] * max(kind.least, 1) for part in (*NASTY, *_spoilt(kind.kind)))
        case Optional():
            yield from _spoilt(kind.kind)
        case Either():
            for part in kind.kinds:
                yield from _spoilt(part)
        case Fields():
            good = example(kind)
            for name, part in kind.kinds.items():
                yield {key: value for key, value in good.items() if key != name}
                yield from ({**good, name: value} for value in (*NASTY, *_spoilt(part)))
            yield {**good, "__class__": "x"}
