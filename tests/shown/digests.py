"""The content of a page as data: a digest of every array behind a picture or a table, and its live checks.

A digest knows neither where its numbers stand on the page nor what is written around them, so pages may be put in
another order, other words and another language. It forgives what differs between machines: the last digits of float32.
"""

import base64
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from streamlit.testing.v1 import AppTest

RELATIVE, FLOOR = 3e-4, 5e-6
"""Tolerance of a number: as a share of its array's largest, and at least. Below the floor all is rounding; the
share is the root of float32's last digit, which is how well the place of a minimum can be found."""
SUMMED = 1e-13
"""Tolerance of a sum over whole numbers with fractional weights, as a share of their length: float64 rounds,
and it is written in fifteen digits. One more or less in a count below 10¹² is seen in it, and in the total."""
DIGEST_ROUNDING = 1e-6
"""Tolerance of a recorded number's seven digits, as a share of itself."""
TABLE_ROUNDING = 5e-3
"""Tolerance of a number of a table, as a share of its column's largest: tables write three digits."""
TRACE = ("x", "y", "z")
"""Keys of a figure's trace that are results; the rest is style."""
STYLE = ("hues", "colours", "words", "blocks", "framed", "letters", "heads", "shape")
"""Keys of a view's data that are neither a result nor a choice."""
TEXT_KEYS = ("detail",)
"""Keys of a view's data that are text with results in it."""
SINGLE = ("token_bytes", "mha_token_bytes")
"""Results that a view is told one by one; other single numbers are sizes of what is sent, or of its scale."""

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|NaN|∞")
FORMULA = re.compile(r"\$[^$]*\$")
SMALL = re.compile(r"·10(⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
"""Powers of ten that tables wrote in digits when the record was made; large ones they wrote as they do now."""
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
STARTS = re.compile(r"[^\w∞]*(?:\d|NaN|∞)")
PLAIN = str.maketrans(
    dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)) | {"（": " (", "）": ") ", "，": ", ", "：": ": ", "−": "-"}
)
"""Raised digits as plain ones, and Chinese signs as the English ones, which part words."""
SIGNS = "→▸·×/=()[]<>≈~–—-−+…*|"


class Digest(NamedTuple):
    """An array in a few numbers.

    ``kind`` is "x", "y" or "z" of a figure, "view" or "choice <name>" of what is drawn in the browser, "table", or
    "count" for whole numbers of a table, which are the same on every machine. ``unit`` is the last digit the numbers
    were rounded to. ``total`` is their sum, ``rotated`` a sum in which each place has a weight of its own, ``length``
    the root of their squares' sum, ``holes`` says how many places are NaN or infinite, and which.
    """

    kind: str
    shape: tuple[int, ...]
    low: float
    high: float
    total: float
    rotated: float
    length: float
    holes: float
    unit: float


def digest(kind: str, values: ArrayLike, unit: float = 0.0) -> Digest:
    """Make the digest of an array."""
    array = np.asarray(values, dtype=np.float64)
    flat, turn = array.ravel(), np.cos(0.7310 * np.arange(array.size))
    finite = flat[np.isfinite(flat)]
    zero_filled = np.nan_to_num(flat, nan=0.0, posinf=0.0, neginf=0.0)
    numbers = (
        finite.min() if finite.size else 0.0, finite.max() if finite.size else 0.0,
        zero_filled.sum(), zero_filled @ turn, np.linalg.norm(zero_filled), (2 + turn)[~np.isfinite(flat)].sum(), unit,
    )  # fmt: skip
    digits = 15 if kind == "count" else 7
    return Digest(kind, array.shape, *(float(f"{number:.{digits}g}") for number in numbers))


def are_equal(a: Digest, b: Digest, relative: float = RELATIVE) -> bool:
    """Return True if two digests are of the same numbers, but for rounding."""
    if (a.kind, a.shape) != (b.kind, b.shape):
        return False
    if a.kind == "count":  # the sums of what is not whole are rounded in another order by another processor
        is_whole = (a.low, a.high, a.total, a.holes, a.unit) == (b.low, b.high, b.total, b.holes, b.unit)
        return is_whole and max(abs(a.rotated - b.rotated), abs(a.length - b.length)) <= SUMMED * a.length
    most, unit, places = max(abs(a.low), abs(a.high)), max(a.unit, b.unit), math.sqrt(math.prod(a.shape))
    tolerance = max(relative * most, FLOOR, unit, (TABLE_ROUNDING * most) if a.kind == "table" else 0)
    # Rounding of many numbers goes both ways, and what is left of it grows with the root of how many there are.
    summed_tolerance = max(
        relative * a.length, FLOOR * places, unit * places, (TABLE_ROUNDING * a.length) if a.kind == "table" else 0
    )

    def near(x: float, y: float, off: float) -> bool:
        return abs(x - y) <= off + DIGEST_ROUNDING * abs(x)

    return (
        near(a.low, b.low, tolerance) and near(a.high, b.high, tolerance) and near(a.total, b.total, summed_tolerance)
        and near(a.rotated, b.rotated, summed_tolerance) and near(a.length, b.length, summed_tolerance)
        and near(a.holes, b.holes, 0)
    )  # fmt: skip


def missing(expected: Iterable[Digest], now: Iterable[Digest], relative: float = RELATIVE) -> list[Digest]:
    """The recorded digests that have no partner in what is shown now; each partner counts once."""
    remaining, unmatched = list(now), []
    for wanted_digest in expected:
        match = next(
            (i for i, candidate in enumerate(remaining) if are_equal(wanted_digest, candidate, relative)), None
        )
        if match is None:
            unmatched.append(wanted_digest)
        else:
            del remaining[match]
    return unmatched


def digests_of(app: AppTest) -> list[Digest]:
    """The digest of every array behind a picture or a table of a page, in an order of its own."""
    return sorted([*_figures(app), *_views(app), *tables_of(app)])


def _figures(app: AppTest) -> Iterator[Digest]:
    for chart in app.get("plotly_chart"):
        for trace in json.loads(chart.proto.spec)["data"]:
            if trace.get("marker", {}).get("opacity") == 0:  # points that are there to be clicked
                continue
            for axis in TRACE:
                values = _array(trace.get(axis))
                if values is not None and not _places(values):
                    yield digest(axis, values)


def _array(data: Any) -> np.ndarray | None:
    """An array as a figure has it, as a list or as bytes; None for labels."""
    if isinstance(data, dict):
        values = np.frombuffer(base64.b64decode(data["bdata"]), np.dtype(data["dtype"]).newbyteorder("<"))
        return values.reshape([int(n) for n in str(data.get("shape", "-1")).split(",")])
    flat = _flat(data)
    return flat.reshape(len(data), -1) if flat is not None and isinstance(data[0], list) else flat


def _places(values: np.ndarray) -> bool:
    """Return True if these are 0, 1, 2 ...: the places of bars, not a result."""
    return values.ndim == 1 and np.array_equal(values, np.arange(values.size))


def _views(app: AppTest) -> Iterator[Digest]:
    for view in app.get("bidi_component"):
        yield from digests_of_view(view)[1]


def digests_of_view(view: Any) -> tuple[Any, list[Digest]]:
    """Return a view's header and the digests of its numbers, in the order in which they are sent."""
    if view.proto.bytes:
        header, blocks = _unpack(view.proto.bytes)
        return header, [*_blocks(header, blocks), *_json_numbers(header)]
    (header,) = json.loads(view.proto.json)
    lines = _lines(header.get("lines", ())) if isinstance(header, dict) else ()
    rest = {key: part for key, part in header.items() if key != "lines"} if isinstance(header, dict) else header
    return header, [*lines, *_json_numbers(rest)]


def _blocks(header: Any, blocks: Iterable[tuple[np.ndarray, float]]) -> Iterator[Digest]:
    for block, unit in blocks:
        if "series" in header:  # bars: what a figure of them calls y
            yield from (digest("y", row, unit) for row in block.reshape(len(header["series"]), -1))
        elif "shape" in header:
            yield digest("z", block.reshape(header["shape"]), unit)
        elif "maps" in header and block.size == header["rows"] * header["n"] * len(header["maps"]):
            # Maps side by side are as many pictures, wherever each of them is drawn.
            yield from (digest("z", picture, unit) for picture in block.reshape(-1, header["rows"], header["n"]))
        else:
            yield digest("view", block, unit)


def _lines(lines: Iterable[dict[str, Any]]) -> Iterator[Digest]:
    """The lines of a chart, and the edges of their bands, each over its own places."""
    for line in lines:
        for row in filter(None, (line["low"], line["high"], line["y"])):
            for axis, data in (("x", line["x"]), ("y", row)):
                values = _flat(data)
                if values is not None and not _places(values):
                    yield digest(axis, values)


def _unpack(data: bytes) -> tuple[Any, list[tuple[np.ndarray, float]]]:
    """A header and its blocks of numbers, each with its unit: weights written as whole numbers up to 65535 have one."""
    at = 4 + int.from_bytes(data[:4], "little")
    header, blocks = json.loads(data[4:at]), []
    for _, kind, count in header["blocks"]:
        block = np.frombuffer(data, np.dtype(kind).newbyteorder("<"), count, at)
        coded = block.dtype.kind == "u" and block.max(initial=0) > 1  # a mask of 0 and 1 is exact
        blocks.append((block, float(coded)))
        at += -(-block.nbytes // 4) * 4  # padded to whole words
    return header, blocks


def _json_numbers(data: Any, name: str = "") -> Iterator[Digest]:
    """The numbers in JSON, however deep: lists of results, and choices."""
    values = _flat(data)
    if values is not None:
        yield digest("view", values)
    elif isinstance(data, list):
        for part in data:
            yield from _json_numbers(part)
    elif isinstance(data, dict):
        for key, part in data.items():
            if name == "choice" and (choice_values := _flat(part if isinstance(part, list) else [part])) is not None:
                yield digest(f"choice {key}", choice_values)
            elif key in TEXT_KEYS:
                yield digest("view", *_read([part]))
            elif key in SINGLE:
                yield digest("view", [part])
            elif key not in STYLE:
                yield from _json_numbers(part, key)


def _flat(data: Any) -> np.ndarray | None:
    """A list of numbers, or of such lists, as one row; None for anything else. Nothing is a hole."""
    if not isinstance(data, list) or not data:
        return None
    if all(isinstance(part, list) for part in data):
        rows = [_flat(part) for part in data]
        return None if any(row is None for row in rows) else np.concatenate([row for row in rows if row is not None])
    if not all(part is None or isinstance(part, int | float) for part in data) or data.count(None) == len(data):
        return None
    return np.array([math.nan if part is None else part for part in data], np.float64)


def tables_of(app: AppTest) -> list[Digest]:
    """Return the digests of every table's columns, also of those written in Markdown, and of large single numbers."""
    return list(_tables(app))


def _tables(app: AppTest) -> Iterator[Digest]:
    for table in [*app.dataframe, *app.table]:
        for column in table.value:
            yield from _column(table.value[column].tolist())
    for bars in re.findall('<table class="bars">.*?</table>', "".join(html.proto.body for html in app.get("html"))):
        lines = re.sub("</?small>", " ", bars).split("<tr>")[2:]
        for column in zip(*(re.findall("<span[^>]*>(.*?)</span>", line) for line in lines), strict=True):
            yield from _column(column)
    for text in app.markdown:
        if text.value.startswith("|"):
            rows = [line.strip().strip("|").split("|") for line in text.value.splitlines()[2:]]
            for column in zip(*rows, strict=True):
                yield from _column(column)
    for metric in app.metric:
        yield from _column([metric.value])


def _column(cells: Sequence[Any]) -> Iterator[Digest]:
    values, unit = _read(cells)
    if values and unit < math.inf:
        is_whole = unit == 0 and np.isfinite(values).all() and not any(isinstance(cell, float) for cell in cells)
        yield digest("count" if is_whole else "table", values, unit)


def _read(cells: Sequence[Any]) -> tuple[list[float], float]:
    """The numbers of some cells, and the coarsest last digit of those that are written out.

    The numbers of one cell stand in order of size, because another language may name them in another order.
    """
    values: list[float] = []
    unit = 0.0
    for cell in cells:
        if not isinstance(cell, str):
            values.append(math.nan if cell is None else float(cell))
            continue
        numbers = _numbers(cell)
        values += sorted(map(_value, numbers), key=lambda value: (math.isnan(value), value))
        unit = max([unit, *map(_unit, numbers)])
    return values, unit


def _numbers(cell: str) -> list[str]:
    """The numbers of a cell that begins with one, or is a label and one; others are names, with whatever is in them."""
    cell = SMALL.sub(lambda power: f"e{power[1].translate(LOWERED)}", cell)
    words = [word for word in FORMULA.sub(" ", cell).translate(PLAIN).split() if word.strip(SIGNS)]
    if not words or not (STARTS.match(words[0]) or (len(words) == 2 and NUMBER.match(words[1]))):
        return []
    return [number for word in words if STARTS.match(word) for number in NUMBER.findall(word)]


def _value(number: str) -> float:
    return math.inf if number == "∞" else float(number.replace(",", ""))


def _unit(number: str) -> float:
    """The last digit of a written number; a whole one is exact."""
    mantissa, _, power = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals or power else 0.0
