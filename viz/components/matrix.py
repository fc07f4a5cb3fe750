"""Data of a matrix in the browser: its cells, exact, the names of its rows and columns, and what a cell says.

All maps of one matrix look alike: a row of it is a row of the picture, the first one on top.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from viz.components.head_grid import pack
from viz.components.unpack import unpack

Kind = Literal["weights", "signed", "sizes"]
Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Axis:
    """One side of a matrix: a name for each row or column, shown literally, and what they are, in words."""

    labels: Sequence[str]
    title: str

    def sent(self) -> dict[str, Any]:
        """Return the fields for the browser."""
        return {"labels": list(self.labels), "count": len(self.labels), "title": self.title}


@dataclass(frozen=True)
class Numbered(Axis):
    """Places that have no names: the dimensions of a vector."""

    def sent(self) -> dict[str, Any]:
        """Return the fields without labels: the browser counts them itself."""
        return super().sent() | {"labels": None}


def numbered(n: int, title: str) -> Numbered:
    """Places from 0 to n - 1."""
    return Numbered([str(i) for i in range(n)], title)


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The heads' blocks in a matrix, each of ``width`` columns (of the concatenation) or rows (of W_O).

    The chosen head's frame is the strong one.
    """

    n_heads: int
    width: int
    along: Literal["columns", "rows"]
    chosen: int


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A matrix as it is drawn; -inf and NaN cells stay empty.

    Args:
        values: (rows, columns).
        rows: what stands at the left.
        columns: what stands on top.
        kind: "weights" is 0 to 1; "signed" is coloured around 0; "sizes" goes from 0 to the largest.
        limit: the largest absolute value of the colours; None takes this matrix's own.
        numbers: write each value into its cell, where there is room.
        hover: what a cell says: a sentence with {row}, {column}, {value} and {offset}, or one for each cell.
        blocked: what a cell says that has no value, where ``hover`` is one sentence; "" says nothing.
        framed: a row to frame, and a column whose cell in that row is framed too, or None.
        letters: cells to frame, each (row, column) with what is written into it.
        twice: give the framed cell of a framed row a second frame, inside: other cells are framed as well.
        blocks: the heads' blocks to frame.
        owners: the head that each cell belongs to, in whose colour it stands; its values are whole numbers.
        low: rows are no higher than their names.
        scale: the colours' scale stands at the right.
    """

    values: Tensor
    rows: Axis
    columns: Axis
    kind: Kind
    limit: float | None = None
    numbers: bool = False
    hover: str | Sentences = "{row} → {column}: {value}"
    blocked: str = ""
    framed: tuple[int, int | None] | None = None
    letters: Mapping[tuple[int, int], str] | None = None
    twice: bool = False
    blocks: Blocks | None = None
    owners: Tensor | None = None
    low: bool = False
    scale: bool = True

    def largest(self) -> float:
        """Return the value at the end of the colours."""
        if self.kind == "weights":
            return 1.0
        finite = self.values[self.values.isfinite()]
        return self.limit or (float(finite.abs().max()) if finite.numel() else 1.0) or 1.0


def pack_matrix(matrix: Matrix, *, head_hues: Sequence[Sequence[int]], **header: Any) -> bytes:
    """Pack a matrix for ``client/matrix/matrix.js``."""
    fields = {
        "shape": list(matrix.values.shape),
        "rows": matrix.rows.sent(),
        "columns": matrix.columns.sent(),
        "kind": matrix.kind,
        "limit": matrix.largest(),
        "numbers": matrix.numbers,
        "hover": matrix.hover if isinstance(matrix.hover, str) else [list(line) for line in matrix.hover],
        "blocked": matrix.blocked,
        "framed": matrix.framed,
        "letters": [[*cell, letter] for cell, letter in (matrix.letters or {}).items()],
        "twice": matrix.twice,
        "heads": matrix.blocks and _heads(matrix.blocks, head_hues),
        "low": matrix.low,
        "scale": matrix.scale,
    }
    cells = {"values": matrix.values}
    if matrix.owners is not None:
        fields["head_hues"], cells["owners"] = [list(hue) for hue in head_hues], matrix.owners
    arrays = {name: numbers.detach().to("cpu", torch.float32) for name, numbers in cells.items()}
    return pack({**fields, **header}, arrays).data


def unpack_matrix(data: bytes) -> Tensor:
    """Return the values (rows, columns) in packed bytes, as the browser reads them."""
    header, blocks = unpack(data)
    return torch.from_numpy(blocks["values"]).view(*header["shape"])


def _heads(blocks: Blocks, hues: Sequence[Sequence[int]]) -> dict[str, Any]:
    size = {"count": blocks.n_heads, "width": blocks.width}
    return {**size, "along": blocks.along, "chosen": blocks.chosen, "hues": [list(hue) for hue in hues]}
