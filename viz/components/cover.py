"""Cells of pictures that a lesson covers while its question is open: their numbers are not sent to the browser.

:mod:`viz.components.covered_data` takes them out of what a view is sent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, kw_only=True)
class Cover:
    """Parts of the pictures that answer an open question.

    Args:
        labels: names of the tokens of the map that ``places`` is about.
        places: the cells of that map, (tokens, tokens), True where covered.
        names: bars, lines and rows with these names.
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


@contextmanager
def covering(cover: Cover | None) -> Iterator[None]:
    """Cover all that is drawn inside the ``with``."""
    token = _current.set(cover)
    try:
        yield
    finally:
        _current.reset(token)
