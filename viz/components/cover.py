"""Cells of pictures that a lesson covers while its question is open: their numbers are not sent to the browser.

:mod:`viz.components.covered_data` takes them out of what a view is sent.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

Mask = np.ndarray[Any, np.dtype[np.bool_]]

_NUMBER = re.compile(r"(?<![\w.,])[−-]?\d[\d,]*(?:\.\d+)?(?:[eE][+−-]?\d+)?(?:[  ]?%)?(?![\w])")
EQUAL = 2e-6
"""Two numbers nearer than this, as a share of the larger, are the same one in float32."""


@dataclass(frozen=True, kw_only=True)
class Cover:
    """Parts of the pictures that answer an open question.

    Args:
        labels: names of the tokens of the map that ``places`` is about.
        places: the cells of that map, (tokens, tokens), True where covered.
        numbers: values that are covered wherever they stand.
        names: bars, lines and rows with these names; "*" is all of them.
        axes: "rows" or "columns": names along a side of a matrix.
        views: keys of pictures all of whose cells are covered; "key.code" is one map of a strip.
        asked: the cell of that map that is chosen at first, (row, column), -1 for no column.
        part: the matrix of the computation that ``cells`` are of, for a view that computes by itself.
        cells: its covered cells, (row, column).
        is_open: whether the question still is; else the same places are labelled.
        word: a screen reader's word for a covered cell.
    """

    labels: tuple[str, ...] = ()
    places: Mask | None = None
    numbers: tuple[float, ...] = ()
    names: frozenset[str] = frozenset()
    axes: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    asked: tuple[int, int] | None = None
    part: str = "weights"
    cells: tuple[tuple[int, int], ...] = ()
    is_open: bool = True
    word: str = "covered"


_current: ContextVar[Cover | None] = ContextVar("cover", default=None)


def current() -> Cover | None:
    """Return the cover of the current picture."""
    return _current.get()


def is_covered() -> bool:
    """Return True if a question is open about the current picture."""
    cover = current()
    return cover is not None and cover.is_open


@contextmanager
def covering(cover: Cover | None) -> Iterator[None]:
    """Cover all that is drawn inside the ``with``."""
    token = _current.set(cover)
    try:
        yield
    finally:
        _current.reset(token)


def cover_sentence(cover: Cover, sentence: str) -> str:
    """Write "?" for each number of a sentence that is hidden, as far as its digits go.

    Example:
        >>> cover_sentence(Cover(numbers=(0.6789,)), "“it” gives 0.68 (67.89 %), not 0.05, in 3 heads")
        '“it” gives ? (?), not 0.05, in 3 heads'
    """
    return _NUMBER.sub(lambda match: "?" if _is_hidden(cover, match[0]) else match[0], sentence)


def _is_hidden(cover: Cover, number_text: str) -> bool:
    is_percent = number_text.endswith("%")
    plain = number_text.replace(",", "").replace("−", "-").replace("%", "").strip()
    digits = len(plain.partition(".")[2].partition("e")[0])
    for number in cover.numbers:
        is_whole = float(number).is_integer()
        if not digits and not is_percent and not is_whole:
            continue  # a count, beside a number that is none
        tolerance = 1e-9 if is_whole and not is_percent else 0.5000001 * 10.0**-digits
        if abs(float(plain) - number * (100 if is_percent else 1)) <= tolerance:
            return True
    return False


def holds(cover: Cover, values: Any) -> Mask:
    """Return where an array has one of the hidden numbers."""
    array = np.asarray(values, dtype=np.float64)
    mask = np.zeros(array.shape, dtype=bool)
    for number in cover.numbers:
        mask |= np.abs(array - number) <= EQUAL * max(abs(number), 1e-3)
    return mask
