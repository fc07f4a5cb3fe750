"""Data of views and tables while a lesson's question is open, without what it covers.

Nothing outside this folder knows of it: a view asks :func:`viz.components.view.apply_change`. The hidden numbers are
taken out and their places listed; the view draws a hatched "?" there. When the question is over, the same places are
listed as those that tell the answer, and the view labels them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from viz.components.head_grid import Packed, pack, weight_codes
from viz.components.unpack import repack, unpack
from viz.frame import compute
from viz.frame.compute import head_grid
from viz.frame.head_grid.grid import HIDE, MERGE, WHAT
from viz.frame.inputs import Choice
from viz.frame.shared import HEAD, QUERY
from viz.frame.specs import View

Mask = np.ndarray[Any, np.dtype[np.bool_]]

MOST_NAMES = 40
"""Along a side of a matrix, each covered by a "?"; more would be a line of them."""


@dataclass(frozen=True, kw_only=True)
class Cover:
    """Parts of the pictures that answer an open question.

    Args:
        labels: names of the tokens of the map that ``places`` is about.
        choice: the page's choice of a text, a layer and a mask, whose map that is in the head grid.
        places: the cells of that map, (tokens, tokens), True where covered.
        names: bars, lines and rows with these names.
        views: keys of pictures all of whose cells are covered; "key.code" is one map of a strip, "key.rows" or
            "key.columns" the names along a side of a matrix.
        asked: the cell of that map that is chosen at first, (row, column), -1 for no column.
        part: the matrix of the computation that ``cells`` are of, for a view that computes by itself.
        cells: its covered cells, (row, column).
        is_open: whether the question still is; else the same places are labelled.
        word: a screen reader's word for a covered cell.
    """

    labels: tuple[str, ...] = ()
    choice: Choice | None = None
    places: Mask | None = None
    names: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    asked: tuple[int, int] | None = None
    part: str = "weights"
    cells: tuple[tuple[int, int], ...] = ()
    is_open: bool = True
    word: str = "covered"

    def encode(self, cells: Mask) -> dict[str, Any]:
        """Return covered cells for the browser, row by row."""
        return {"cells": np.flatnonzero(cells).tolist(), "open": self.is_open, "word": self.word}


def cover_data(cover: Cover, key: str, data: Any) -> Any:
    """Remove all that is covered from what a view is sent, or a table, which has no key."""
    if not key:
        return _cover_table(cover, data)
    if not isinstance(data, bytes):
        return _cover_json(cover, data)
    header, blocks = unpack(data)
    if (kind := header.get("kind")) in ("wall", "head"):
        hidden = _cover_grid(cover) if cover.is_open and header["channel"] == "grid" else None
        return hidden[kind].data if hidden else data
    cells = _cells(cover, key, header, blocks)
    header = _header(cover, key, header)
    if cells is not None and cells.any():
        header["covers"] = cover.encode(cells)
        if cover.is_open:
            blocks["values"] = np.where(cells.ravel(), np.nan, blocks["values"]).astype(np.float32)
    elif cover.is_open and "labels" in header and "n" in header and _names(header["labels"]) == cover.labels:
        # For a view that computes by itself.
        places = np.zeros(0, dtype=bool) if cover.places is None else cover.places
        header["covers"] = {**cover.encode(places), "asked": cover.asked}
    return repack(header, blocks)


def _header(cover: Cover, key: str, header: Mapping[str, Any]) -> dict[str, Any]:
    """The names and sentences around a picture, without the hidden ones."""
    fields = dict(header)
    if not cover.is_open:
        return fields
    words = fields.get("words")
    # A picture without an alternative text of its own has a finding, which waits for the answer.
    if isinstance(words, dict) and words.get("alt") == "":
        fields["words"] = {**words, "alt": cover.word}
    for side in ("rows", "columns"):
        if f"{key}.{side}" in cover.views:
            count = fields[side]["count"]
            fields[side] = {**fields[side], "labels": ["?" if count <= MOST_NAMES else ""] * count}
            fields["heads"] = None
    return fields


def _cells(cover: Cover, key: str, header: Mapping[str, Any], blocks: Mapping[str, Any]) -> Mask | None:
    """The cells of a packed picture that are covered, in the order in which its numbers are packed."""
    values = blocks.get("values")
    if values is None or values.dtype != np.float32:
        return None
    if "maps" in header:
        shape = (len(header["maps"]), header["rows"], header["n"])
        sides = [(_names(panel["labels"]), _names(panel["columns"] or panel["labels"])) for panel in header["maps"]]
        codes = [panel["code"] for panel in header["maps"]]
    elif "shape" in header:
        shape = (1, *header["shape"])
        sides, codes = [(_names(header["rows"]["labels"]), _names(header["columns"]["labels"]))], [""]
    elif "series" in header:
        shape = (len(header["series"]), 1, len(header["labels"]))
        sides, codes = [((name,), _names(header["labels"])) for name in header["series"]], [*header["series"]]
    else:
        return None
    chosen = _in_view(cover, _view()) if key == "row" else None
    # Of the row of the page's map that is chosen a cell is covered.
    cells = np.full(shape, chosen is not None and chosen[0][max(0, chosen[1][QUERY.value])].any())
    for index, ((rows, columns), code) in enumerate(zip(sides, codes, strict=True)):
        cells[index] |= _by_name(cover, rows, columns, cells[index].shape)
        if cover.views & {key, f"{key}.{code}"}:
            cells[index] = True
    return cells


def _names(labels: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(labels or ())


def _by_name(cover: Cover, rows: tuple[str, ...], columns: tuple[str, ...], shape: tuple[int, ...]) -> Mask:
    """The cells of one map that are covered for the names of their row and column."""
    mask = np.zeros(shape, dtype=bool)
    if cover.places is not None and rows == cover.labels and shape == (len(rows), len(columns)):
        n = len(rows)
        # Further columns stand for no token.
        if columns[:n] == rows:
            mask[:, :n] |= cover.places
    for i, name in enumerate(rows[: shape[0]]):
        mask[i] |= name in cover.names
    for j, name in enumerate(columns[: shape[1]]):
        mask[:, j] |= name in cover.names
    return mask


def _in_view(cover: Cover, view: View) -> tuple[Mask, Sequence[int]] | None:
    """The covered cells in the rows and columns of a view of the page's map, and its row for each token.

    None if the cover is about other words, or none of them is covered.
    """
    if cover.choice is None or cover.places is None or not cover.places.any():
        return None
    capture = compute.read(cover.choice.source)
    if cover.labels != capture.tokens.labels:
        return None
    of = head_grid.axis(capture.tokens, view).of
    places = np.zeros((max(of) + 1,) * 2, dtype=bool)
    for row, column in np.argwhere(cover.places):
        if of[row] >= 0 and of[column] >= 0:
            places[of[row], of[column]] = True
    return places, of


def _view() -> View:
    return View(what=WHAT.value, merge=MERGE.value, hide=HIDE.value)


def _cover_grid(cover: Cover) -> dict[str, Packed] | None:
    """The head grid's numbers without the covered cells of any head: its wall, and the chosen head as weights.

    From its scores the covered weights would follow.
    """
    if (hidden := _in_view(cover, view := _view())) is None:
        return None
    places, choice = hidden[0], cover.choice
    assert choice is not None
    source, layer, head = choice.source, choice.layer, HEAD.value
    maps = head_grid.layer_maps(source, layer, choice.mask, replace(view, what="weights")).values
    codes = weight_codes(maps[head].masked_fill(torch.from_numpy(places), 0.0))
    sizes = dict(zip(("rows", "columns"), codes.shape, strict=True))
    about = {"layer": layer, "head": head, "channel": source.channel, "kind": "head", "codec": "weights", **sizes}
    return {
        "wall": _cover_wall(head_grid.wall(source, choice.mask, view), places),
        "head": pack(about, {"codes": codes}),
    }


def _cover_wall(wall: Packed, places: Mask) -> Packed:
    """The wall without the covered cells; of a coarse one, without the blocks that hold them."""
    header, blocks = unpack(wall.data)
    rows, columns, pool = header["rows"], header["columns"], header["pool"]
    coarse = np.zeros((rows, columns), dtype=bool)
    coarse[tuple(np.argwhere(places).T // pool)] = True
    values = blocks["values"].reshape(-1, rows, columns)
    blocks["values"] = np.where(coarse, 0, values).astype(np.uint16).ravel()
    return pack(header, {name: torch.from_numpy(block) for name, block in blocks.items()}, pool=pool)


def _cover_json(cover: Cover, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The choices of the head grid, the arcs of a row, or the printed matrices, without the covered numbers."""
    if data.get("channel") == "grid" and (hidden := _in_view(cover, _view())):
        data = {**data, "covers": cover.encode(hidden[0])}
        if numbers := _cover_grid(cover) if cover.is_open else None:
            data |= {"links": None, **{name: packed.id for name, packed in numbers.items()}}
    elif not cover.is_open:
        return data
    elif "sentences" in data and (hidden := _in_view(cover, View())):
        (sentence,) = data["sentences"]
        rows = np.where(hidden[0], np.array(None), sentence["weights"]).tolist()
        data = {**data, "sentences": [{**sentence, "weights": rows}]}
        data["words"] = {**data["words"], "covered": cover.word}
    elif data.get("pairs") or data.get("blocks"):
        pairs = [{**pair, "result": _cover_block(cover, pair["result"])} for pair in data.get("pairs", [])]
        blocks = [_cover_block(cover, block) for block in data.get("blocks", [])]
        data = {**data, "pairs": pairs or None, "blocks": blocks or None}
    return data


MATRIX_NAMES = {"q": "Q", "scores": "S", "scaled": "S / ", "weights": "A", "head_outputs": "Z"}
"""Printed matrices that follow from others, as their names begin."""


def _cover_block(cover: Cover, block: Mapping[str, Any]) -> dict[str, Any]:
    """A printed matrix without the covered cells, nor how they are calculated."""
    if "lines" not in block or not _is_part(block["name"], cover.part):
        return dict(block)
    cells = {name: [[*row] for row in block[name]] for name in ("texts", "values", "lines")}
    for row, column in cover.cells:
        cells["texts"][row][column], cells["values"][row][column] = "?", None
        cells["lines"][row][column] = [["?", "result"]]
    return {**block, **cells}


def _is_part(name: str, part: str) -> bool:
    begins = MATRIX_NAMES.get(part)
    return begins is not None and (name.startswith(begins) if begins.endswith(" ") else name == begins)


def _cover_table(cover: Cover, columns: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    """A table's columns without the rows with a covered name."""
    if not cover.is_open:
        return columns
    first = [str(value) for value in next(iter(columns.values()), ())]
    return {
        name: [
            (None if isinstance(value, int | float) else "?") if at and title in cover.names else value
            for title, value in zip(first, values, strict=True)
        ]
        for at, (name, values) in enumerate(columns.items())
    }
