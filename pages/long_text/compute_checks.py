"""Cached references of the page's live checks: recomputed by NumPy in float64, from q and k."""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from pages.long_text import compute
from pages.long_text.compute import LongText
from viz.frame.compute import recount
from viz.frame.compute.long_texts import kept_long
from viz.models.long.capture import LongCapture

Array = NDArray[np.float64]
Places = NDArray[np.int64]
ROWS, CELLS = 12, 4
"""Rows, and cells of the map, that are done again: other ones for every head."""

OFF = 2e-5
"""Tolerance of a weight for float32's rounding."""


def by_numpy(capture: LongCapture, layer: int, head: int, rows: Places) -> Array:
    """Whole rows of a head's weights, (rows, T): the plain softmax."""
    q, k = (values.double().numpy() for values in capture.head(layer, head))
    how, keys = capture.layers[layer], np.arange(len(k))[None]
    scores = how.scale * q[rows] @ k.T
    if how.score_mod is not None:
        scores = how.score_mod(torch.from_numpy(scores)).numpy()
    if how.allowed is not None:
        scores[~how.allowed(torch.from_numpy(rows), len(k)).numpy()] = -np.inf
    if capture.causal:
        scores[keys > rows[:, None]] = -np.inf
    nowhere = -np.inf if how.sinks is None else float(how.sinks[head])
    highest = np.maximum(scores.max(1, keepdims=True), nowhere)
    weights = np.exp(scores - highest)
    result: Array = weights / (weights.sum(1, keepdims=True) + np.exp(nowhere - highest))
    return result


def random_places(text: LongText, layer: int, head: int, most: int, n: int) -> Places:
    """Draw at most ``most`` of the numbers below n; the seed is the head and the end of the text."""
    ids = compute.read(text).tokens.ids
    seed = [layer, head, len(ids), *ids[-3:]]
    return np.random.default_rng(seed).choice(n, min(n, most), replace=False)


@kept_long
def row_errors(text: LongText, layer: int, head: int) -> float:
    """The largest error of the statistics of some rows, each as a share of its maximum."""
    capture, long_map = compute.read(text), compute.head_map(text, layer, head)
    n = len(capture.tokens.ids)
    rows, at = random_places(text, layer, head, ROWS, n), np.arange(n)
    weights = by_numpy(capture, layer, head, rows)
    every = np.arange(len(rows))
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum(1)
    actual = {name: values[torch.from_numpy(rows)].double().numpy() for name, values in vars(long_map.rows).items()}
    span = max(1, n - 1)
    errors = [
        actual["first"] - weights[:, 0],
        actual["previous"] - np.where(rows > 0, weights[every, np.maximum(rows - 1, 0)], 0.0),
        actual["largest"] - weights.max(1),
        weights.max(1) - weights[every, actual["strongest"].astype(int)],
        (actual["distance"] - (weights * np.abs(rows[:, None] - at)).sum(1)) / span,
        (actual["entropy"] - entropy) / max(1.0, np.log(n)),
        actual["nowhere"] - (1 - weights.sum(1)),
    ]
    return float(np.abs(np.array(errors)).max())


@kept_long
def cell_errors(text: LongText, layer: int, head: int) -> float:
    """Errors of some cells, at random places and at the map's maximum: largest and mean weight."""
    capture, long_map = compute.read(text), compute.head_map(text, layer, head)
    side, count, n = long_map.side, len(long_map.most), len(capture.tokens.ids)
    cells = [
        divmod(int(at), count)
        for at in (*random_places(text, layer, head, CELLS, count * count), int(long_map.most.argmax()))
    ]
    off = 0.0
    for a, b in cells:
        rows = np.arange(a * side, min(n, (a + 1) * side))
        block = by_numpy(capture, layer, head, rows)[:, b * side : (b + 1) * side]
        off = max(
            off, abs(block.max() - float(long_map.most[a, b])), abs(block.mean() - float(long_map.mean[a, b])) * side
        )
    return off


@kept_long
def packing_error(text: LongText, layer: int, head: int) -> float:
    """Return how far one row of the packed q and k is off the row that was kept before they were packed."""
    capture = compute.read(text)
    packed = by_numpy(capture, layer, head, np.array([capture.witness_at]))[0]
    return float(np.abs(packed - capture.layers[layer].witness[head].double().numpy()).max())


@kept_long
def wrong_tokens(text: LongText) -> int:
    """Return how many labels or numbers of the tokens are not what the tokenizer says of the whole text."""
    return recount.wrong_tokens_of(replace(text.source, text=text.whole), compute.read(text).tokens)
