"""Checks of the page: complete rows against the plain softmax in float64."""

import numpy as np
import torch
from torch import Tensor

from pages.long_text.compute_checks import (
    CELLS,
    OFF,
    ROWS,
    by_numpy,
    cell_errors,
    packing_error,
    random_places,
    row_errors,
    wrong_tokens,
)
from pages.long_text.compute_shape_checks import wall_errors, wrong_names
from pages.long_text.context import LongTextContext
from viz.core.long.streamed import LongMap
from viz.frame.checks import Check, check
from viz.frame.compute import recount, rows
from viz.frame.specs import Mask


def map_checks(context: LongTextContext, zoom: tuple[int, int], cut: Tensor, row: int, weights: Tensor) -> list[Check]:
    """Of the map, the window, the row that is read, and the packing of q and k."""
    capture, layer, head = context.seen, context.layer, context.head
    some = random_places(context.text, layer, head, ROWS, len(cut))
    block = by_numpy(capture, layer, head, some + zoom[0])[:, zoom[1] : zoom[1] + cut.shape[1]]
    read = by_numpy(capture, layer, head, np.array([row]))[0]
    window_off = np.abs(cut[torch.from_numpy(some)].numpy() - block).max()
    return [
        check("long_text.check_cells", cell_errors(context.text, layer, head), OFF, n=CELLS + 1),
        check("long_text.check_window", window_off, OFF, n=len(some)),
        check("long_text.check_row", np.abs(weights.numpy() - read).max(), OFF),
        *_as_the_model(context),
        check("long_text.check_rounding", packing_error(context.text, layer, head), OFF, row=capture.witness_at),
        *_own_row_check(context, row, weights),
        *text_checks(context),
    ]


def _as_the_model(context: LongTextContext) -> list[Check]:
    """A decoder's first tokens know nothing of later ones: there q and k are those of an ordinary pass over them."""
    scene, capture = context.scene, context.seen
    short, long = scene.capture.tokens.ids, capture.tokens.ids
    n = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), min(len(short), len(long)))
    if not n or not (capture.causal or context.text.source.kind != "model"):
        return []
    call, layer = scene.capture.calls[context.layer], capture.layers[context.layer]
    # Of maps both have a place for each token of their text.
    wide = n if call.maps_only else None
    pairs = [(plain[:, :n, :wide], cached[:, :n, :wide]) for plain, cached in ((call.q, layer.q), (call.k, layer.k))]
    off = max(float((plain - cached).abs().max() / plain.abs().max()) for plain, cached in pairs)
    return [check("long_text.check_model", off, 1e-5, n=n)]


def rows_checks(context: LongTextContext, long_map: LongMap) -> list[Check]:
    """Of the rows: some done again, and all of them whole."""
    sizes = torch.full((len(long_map.mean),), float(long_map.side), dtype=torch.float64)
    sizes[-1] = context.n - long_map.side * (len(sizes) - 1)
    nowhere = torch.stack([part.double().mean() for part in long_map.rows.nowhere.split(long_map.side)])
    row_sum_error = (long_map.mean.double() @ sizes + nowhere - 1).abs().max()
    return [
        check(
            "long_text.check_rows", row_errors(context.text, context.layer, context.head), OFF, n=min(ROWS, context.n)
        ),
        check("long_text.check_whole", row_sum_error, OFF),
        *text_checks(context),
    ]


def wall_checks(context: LongTextContext) -> list[Check]:
    """Of the wall: one head in some of the layers."""
    cells, shares = wall_errors(context.text)
    return [
        check("long_text.check_small", cells, OFF),
        check("long_text.check_shares", shares, 1e-3),
        check("long_text.check_names", wrong_names(context.text), 0),
        *text_checks(context),
    ]


def text_checks(context: LongTextContext) -> list[Check]:
    """Of the text: its labels; of a model: its file, and where the text is short a row of its own layer."""
    source = context.scene.choice.source
    kind = "words" if source.kind == "words" else "model"
    checks = [check(f"truth.tokens_{kind}", wrong_tokens(context.text), 0)]
    off = recount.weights_error(source, context.layer) if source.kind == "model" else None
    if off is not None:
        checks.append(check("truth.file", off, 1e-5, layer=context.scene.layer_number))
    return checks


def _own_row_check(context: LongTextContext, row: int, weights: Tensor) -> list[Check]:
    """The row that is read by the model's own layer, where the page's beginning of the text is all of it."""
    source, capture = context.scene.choice.source, context.seen
    if source.kind != "model" or context.scene.capture.tokens.ids != capture.tokens.ids:
        return []
    if not rows.has_own_row(source):
        return []
    expected = rows.row_of(source, context.layer, Mask(), context.head, row)
    may = rows.row_tolerance(context.scene.capture.calls[context.layer], context.head, row)
    off = rows.row_error(expected, weights)
    layer = context.scene.layer_number
    return [check("long_text.check_own_row", off, may, layer=layer, head=context.head, row=row)]
