"""A picture's numbers with their names, whatever it looks like: what a large figure is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

Kind = Literal["map", "bars", "lines", "points"]
Scale = tuple[float, float]
"""Ends of the colours of a map."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """The title of an axis, where it is not even and rising, and whether its values are bytes."""

    title: str = ""
    log: bool = False
    reversed: bool = False
    in_bytes: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """Numbers with names, (rows, columns); NaN is nothing, and all names are shown literally.

    It is a map of rows by columns, bars with a series for each column, or lines or points, with a row for each place:
    its x and y. There ``names`` are those of lines or clouds, ``notes`` the places' labels, and ``dots`` the lines that
    are dots alone. ``scale`` is of a map's colours; None fits the numbers, the same for all maps beside it.
    """

    kind: Kind
    values: NDArray[Any]
    names: Sequence[str]
    columns: Sequence[str]
    notes: Sequence[str] = ()
    title: str = ""
    x: Side = field(default_factory=Side)
    y: Side = field(default_factory=Side)
    dots: frozenset[str] = frozenset()
    scale: Scale | None = None
