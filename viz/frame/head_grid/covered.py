"""The head grid with cells that a lesson covers: their weights are in none of its messages."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from viz.components.cover import Cover, Mask
from viz.components.head_grid import Packed, pack, weight_codes
from viz.components.unpack import unpack
from viz.frame.compute import head_grid
from viz.frame.scene import Scene
from viz.frame.specs import View


def view_places(cover: Cover, scene: Scene, view: View) -> Mask | None:
    """The covered cells in the rows and columns of the view; None if the cover is about other words, or none is."""
    if cover.places is None or scene.capture.is_cross or cover.labels != scene.labels or not cover.places.any():
        return None
    of = head_grid.axis(scene.capture.tokens, view).of
    n = max(of) + 1
    places = np.zeros((n, n), dtype=bool)
    for row, column in zip(*cover.places.nonzero(), strict=True):
        if of[row] >= 0 and of[column] >= 0:
            places[of[row], of[column]] = True
    return places


def cover_wall(wall: Packed, places: Mask) -> Packed:
    """The wall without the covered cells of any head; of a coarse one, without the blocks that hold them."""
    header, blocks = unpack(wall.data)
    rows, columns, pool = header["rows"], header["columns"], header["pool"]
    coarse = np.zeros((rows, columns), dtype=bool)
    for row, column in zip(*places.nonzero(), strict=True):
        coarse[row // pool, column // pool] = True
    values = blocks["values"].reshape(-1, rows, columns)
    blocks["values"] = np.where(coarse, 0, values).astype(np.uint16).ravel()
    return pack(header, {name: torch.from_numpy(block) for name, block in blocks.items()}, pool=pool)


def cover_head(weights: torch.Tensor, places: Mask, header: Mapping[str, Any]) -> Packed:
    """The chosen head as weights, for from its scores the covered ones would follow."""
    codes = weight_codes(weights.masked_fill(torch.from_numpy(places), 0.0))
    rows, columns = weights.shape
    return pack({**header, "kind": "head", "codec": "weights", "rows": rows, "columns": columns}, {"codes": codes})


def encode_cells(cover: Cover, places: Mask) -> dict[str, Any]:
    """Return the covered cells for the browser, row by row."""
    return {"cells": np.flatnonzero(places).tolist(), "open": cover.is_open, "word": cover.word}
