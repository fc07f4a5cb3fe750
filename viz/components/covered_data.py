"""Data of views and tables while a lesson's question is open, without what it covers.

Every view is sent through :meth:`viz.components.view.View.mount`, and so through :func:`cover_data`, which takes the
hidden numbers out and lists their places; the view draws a hatched "?" there. When the question is over, the same
places are listed as those that tell the answer, and the view labels them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from viz.components.cover import Cover, Mask, current
from viz.components.unpack import repack, unpack

MOST_NAMES = 40
"""Along a side of a matrix, each covered by a "?"; more would be a line of them."""


def cover_data(key: str, data: Any) -> Any:
    """Remove all that is covered from the data of a view.

    Args:
        key: of the view on the page.
        data: bytes as :func:`viz.components.head_grid.pack` makes them, or what JSON can hold.
    """
    cover = current()
    if cover is None:
        return data
    if not isinstance(data, bytes):
        return _cover_json(cover, data)
    header, blocks = unpack(data)
    # viz/frame/head_grid/covered.py has covered these.
    if header.get("kind") in ("wall", "head"):
        return data
    cells = _cells(cover, key, header, blocks)
    header = _header(cover, header)
    if cells is not None and cells.any():
        header["covers"] = {"cells": np.flatnonzero(cells).tolist(), "open": cover.is_open, "word": cover.word}
        if cover.is_open:
            blocks["values"] = np.where(cells.ravel(), np.nan, blocks["values"]).astype(np.float32)
    elif cover.is_open and "labels" in header and "n" in header and _names(header["labels"]) == cover.labels:
        places = [] if cover.places is None else np.flatnonzero(cover.places).tolist()
        header["covers"] = {
            "cells": places,
            "open": True,
            "word": cover.word,
            "asked": cover.asked,
        }  # for a view that computes by itself
    return repack(header, blocks)


def _header(cover: Cover, header: Mapping[str, Any]) -> dict[str, Any]:
    """The names and sentences around a picture, without the hidden ones."""
    if not cover.is_open:
        return dict(header)
    fields = dict(header)
    words = fields.get("words")
    # A picture without an alternative text of its own has a finding, which waits for the answer.
    if isinstance(words, dict) and words.get("alt") == "":
        fields["words"] = {**words, "alt": cover.word}
    for side in cover.axes & fields.keys():
        if isinstance(fields[side], dict):
            fields[side] = {
                **fields[side],
                "labels": ["?" if fields[side]["count"] <= MOST_NAMES else ""] * fields[side]["count"],
            }
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
    cells = np.zeros(shape, dtype=bool)
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


def _cover_json(cover: Cover, data: Any) -> Any:
    """A picture of step_by_step/three_words without the covered numbers."""
    if not cover.is_open or not isinstance(data, Mapping) or not (data.get("pairs") or data.get("blocks")):
        return data
    pairs = [{**pair, "result": _cover_block(cover, pair["result"])} for pair in data.get("pairs", [])]
    blocks = [_cover_block(cover, block) for block in data.get("blocks", [])]
    return {**data, "pairs": pairs or None, "blocks": blocks or None}


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


def cover_table(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """A table's columns without the rows with a covered name."""
    cover = current()
    if cover is None or not cover.is_open:
        return {name: [*values] for name, values in columns.items()}
    first = [str(value) for value in next(iter(columns.values()), ())]
    return {
        name: [
            (None if isinstance(value, int | float) else "?") if at and title in cover.names else value
            for title, value in zip(first, values, strict=True)
        ]
        for at, (name, values) in enumerate(columns.items())
    }
