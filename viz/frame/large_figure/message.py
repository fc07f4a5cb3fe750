"""Parsing and validating the message of a picture's menu for a large figure."""

import base64
import binascii
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

import numpy as np

from viz import limits
from viz.figures.table import Kind, Scale, Side, Table

_MOST_CAPTION, _MOST_NAME = 2_000, 100
_MOST = 1e30
"""Of a scale of colours."""


def read_message(message: object) -> tuple[str, str, list[Table]]:
    """Read the message of a picture's menu: the name of its files, its caption, and its tables.

    Raises:
        ValueError: if it is anything else, or larger than allowed.
    """
    match message:
        case {"name": str(name), "caption": str(caption), "tables": [_, *_] as tables}:
            pass
        case _:
            raise ValueError("no message of a menu")
    if len(name) > _MOST_NAME or len(caption) > _MOST_CAPTION or len(tables) > limits.LARGE_TABLES:
        raise ValueError("too long")
    room = _Room()
    return _replace_surrogates(name), _replace_surrogates(caption), [_table(table, room) for table in tables]


class _Room:
    """The bytes of numbers and the characters of names that are still allowed."""

    def __init__(self) -> None:
        self.n_bytes, self.characters = limits.LARGE_BYTES, limits.LARGE_CHARACTERS

    def take(self, *, n_bytes: int = 0, characters: int = 0) -> None:
        self.n_bytes -= n_bytes
        self.characters -= characters
        if self.n_bytes < 0 or self.characters < 0:
            raise ValueError("too large")


def _table(message: object, room: _Room) -> Table:
    """Read one table.

    Raises:
        ValueError: if it is none.
    """
    match message:
        case {
            "kind": str(kind), "title": str(title), "x": x, "y": y, "dots": list(dots), "names": list(names),
            "notes": list(notes), "columns": list(columns), "size": int(4 | 8) as size, "values": str(values),
            "codes": str(codes), "scale": scale,
        } if kind in get_args(Kind):  # fmt: skip
            pass
        case _:
            raise ValueError("no table")
    room.take(n_bytes=(len(values) + len(codes)) * 3 // 4 - 4, characters=len(title))
    columns, dots = _texts(columns, room), _texts(dots, room)
    n_rows = _n_rows(names)
    if not 0 < n_rows * len(columns) <= limits.LARGE_CELLS or _n_rows(notes) != n_rows:
        raise ValueError("names without numbers")
    if kind in ("lines", "points") and len(columns) != len("xy"):
        raise ValueError("a place has two numbers")
    return Table(
        kind=cast(Kind, kind),
        title=_replace_surrogates(title),
        values=_numbers(values, codes, size).reshape(n_rows, len(columns)),
        names=_runs(names, room),
        notes=_runs(notes, room),
        columns=columns,
        x=_side(x, room),
        y=_side(y, room),
        dots=frozenset(dots),
        scale=_scale(scale),
    )


def _scale(message: object) -> Scale | None:
    match message:
        case None:
            return None
        case [int() | float() as low, int() | float() as high] if bool not in (type(low), type(high)):
            if -_MOST < low < high < _MOST:
                return float(low), float(high)
    raise ValueError("no scale")


def _numbers(values: str, codes: str, size: int) -> np.ndarray[Any, Any]:
    """Read little-endian floats of 4 or 8 bytes, or indices into them; values that are not finite become NaN."""
    numbers = np.frombuffer(_bytes(values), f"<f{size}")
    numbers = np.where(np.isfinite(numbers), numbers, np.array(math.nan, numbers.dtype))
    if not codes:
        return numbers
    places = np.frombuffer(_bytes(codes), "<u1" if len(numbers) <= 256 else "<u2")
    if places.max() >= len(numbers):
        raise ValueError("a number that was not sent")
    return numbers[places]


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("no base64") from error


def _texts(message: Sequence[object], room: _Room) -> list[str]:
    room.take(characters=len(message))
    texts = [text for text in message if isinstance(text, str)]
    if len(texts) != len(message):
        raise ValueError("no text")
    room.take(characters=sum(map(len, texts)))
    return [_replace_surrogates(text) for text in texts]


def _replace_surrogates(text: str) -> str:
    """Replace half characters: no message of the server's can hold them."""
    return text.encode(errors="replace").decode()


def _n_rows(runs: Sequence[object]) -> int:
    """Count the rows of runs, [text, how many rows have it]."""
    total = 0
    for run in runs:
        match run:
            case [str(), int(n)] if type(n) is int and 0 < n <= limits.LARGE_CELLS:
                total += n
            case _:
                raise ValueError("no run of names")
    return total


def _runs(runs: Sequence[Any], room: _Room) -> list[str]:
    """Return the name of each row; the caller has counted them."""
    texts = _texts([text for text, _ in runs], room)
    return [text for text, (_, n) in zip(texts, runs, strict=True) for _ in range(n)]


def _side(message: object, room: _Room) -> Side:
    if not isinstance(message, Mapping):
        raise ValueError("no axis")
    title, *flags = (message.get(name) for name in ("title", "log", "reversed", "in_bytes"))
    match flags:
        case [bool(log), bool(is_reversed), bool(in_bytes)] if isinstance(title, str):
            room.take(characters=len(title))
            return Side(title=_replace_surrogates(title), log=log, reversed=is_reversed, in_bytes=in_bytes)
    raise ValueError("no axis")
