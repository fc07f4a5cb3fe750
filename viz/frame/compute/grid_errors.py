"""Live checks of the head grid's data: a random small map, a row of the large one and the labels, recomputed."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from viz.components.head_grid import TOP, Packed
from viz.core.analysis.checks import sdpa_weights
from viz.core.random_place import random_place
from viz.frame.compute import cached, head_grid, read, recount
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.compute.recount import Compared
from viz.frame.specs import Mask, Source, View

CODES = {"uint16": "<u2", "float32": "<f4", "int32": "<i4"}


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the blocks of a browser's data, read by NumPy."""
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:end])
    blocks, at = {}, end
    for name, kind, count in header["blocks"]:
        dtype = np.dtype(CODES[kind])
        blocks[name] = np.frombuffer(data, dtype, count, at)
        at += -(-count * dtype.itemsize // 4) * 4
    return header, blocks


@cached
def grid_errors(source: Source, mask: Mask, view: View, layer: int, head: int) -> tuple[Compared, ...]:
    """Compare the grid's labels, a random row of its small maps, and a random row of the large one."""
    labels: Compared = "truth.grid_labels", recount.wrong_rows(source, view), 0, {}
    if view != View():
        return (labels,)
    text_capture, wall = read(source), head_grid.wall(source, mask, view)
    any_layer = random_place(text_capture.n_layers, source, mask, "wall")
    any_head, row = recount.random_cell(text_capture.calls[any_layer], source, any_layer, mask)
    rows = [labels]
    if wall.pool == 1:
        row_values = _row_of_wall(wall, any_layer, any_head, row)
        rows.append(_compare_row("truth.wall", source, mask, (any_layer, any_head, row), row_values, 1 / TOP))
    large = _row_of_head(head_grid.head_scores(source, layer, head, mask, view), row)
    if large is not None:
        rows.append(_compare_row("truth.large", source, mask, (layer, head, row), large))
    return tuple(rows)


def _compare_row(
    key: str, source: Source, mask: Mask, place: tuple[int, int, int], row_values: np.ndarray, coded: float = 0.0
) -> Compared:
    """Hold a row that is sent, in a layer and of a head, to the same row by another way."""
    (layer, head, row), text_capture = place, read(source)
    call = text_capture.calls[layer]
    if recount.has_own_row(source):
        off = recount.row_error(recount.row_of(source, layer, mask, head, row), torch.from_numpy(row_values))
    else:
        # A model's heads between two texts are held to torch's own attention on what went in.
        options = with_mask(call.options, mask_by_rule(mask, call.q.shape[1], call.k.shape[1]))
        weights = sdpa_weights(call.q, call.k, **options)[head, row]
        off = float((weights - torch.from_numpy(row_values)).abs().max())
    tolerance = recount.row_tolerance(call, head, row) + coded
    return key, off, tolerance, {"layer": text_capture.number(layer), "head": head, "row": row}


def _row_of_wall(wall: Packed, layer: int, head: int, row: int) -> np.ndarray:
    header, blocks = unpacked(wall.data)
    shape: Sequence[int] = (header["n_layers"], header["n_heads"], header["rows"], header["columns"])
    return blocks["values"].reshape(shape)[layer, head, row].astype(np.float64) / TOP


def _row_of_head(packed: Packed, row: int) -> np.ndarray | None:
    """The weights that the browser makes of a row of exact scores; None where they are coded."""
    header, blocks = unpacked(packed.data)
    if header.get("codec") != "float32":
        return None
    scores = blocks["scores"].reshape(header["rows"], header["columns"])[row].astype(np.float64)
    if not np.isfinite(scores).any():
        return np.zeros(len(scores))
    sink = header.get("sink", -np.inf)
    top = max(scores[np.isfinite(scores)].max(), sink)
    shares = np.exp(scores - top)
    weights: np.ndarray = shares / (shares.sum() + np.exp(sink - top))
    return weights
