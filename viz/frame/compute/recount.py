"""Small parts of a page's numbers, computed by a second way and cached, for its live checks."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from viz.components.head_grid import TOP, Packed
from viz.core.analysis.checks import random_place, sdpa_weights
from viz.frame.compute import cached, head_grid, model, read, trace
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.compute.rows import has_own_row, row_error, row_of, row_tolerance
from viz.frame.specs import Mask, Source, View
from viz.models.capture import Call, Capture, Head
from viz.models.recount.own_attention import has_own_attention, own_state_without
from viz.models.recount.token_labels import wrong_labels, wrong_numbers, wrong_numbers_of_words, wrong_words
from viz.models.recount.weights import file_error
from viz.models.tokens import Tokens

Compared = tuple[str, float, float, dict[str, Any]]
"""A text key that says the parts compared, their difference, its tolerance, and the values of the text."""

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


def random_cell(call: Call, source: Source, layer: int, mask: Mask) -> tuple[int, int]:
    """The head and the row of a layer that the checks of a scene look at: for the same scene the same."""
    n_heads, n_rows = call.q.shape[:2]
    return random_place(n_heads, source, layer, mask, "head"), random_place(n_rows, source, layer, mask, "row")


@cached
def source_errors(source: Source, layer: int, mask: Mask) -> tuple[Compared, ...]:
    """Compare a source's tokens, a row, and a vector or the weights' file with what another way makes of them."""
    kind = "words" if source.kind == "words" else "model"
    errors: list[Compared] = [(f"truth.tokens_{kind}", wrong_tokens(source), 0, {})]
    text_capture = read(source)
    number = text_capture.number(layer)
    if has_own_row(source):
        head, row, off = scene_row_error(source, layer, mask)
        key = "row_seeded" if source.kind != "model" else "row" if mask.kind == "own" else "row_masked"
        values = {"layer": number, "head": head, "row": row}
        errors.append((f"truth.{key}", off, row_tolerance(text_capture.calls[layer], head, row), values))
    if source.kind != "model":
        place, off = vector_error(source)
        errors.append((f"truth.vector_{kind}", off, 1e-5, {"place": place}))
    elif (file_off := weights_error(source, layer)) is not None:
        errors.append(("truth.file", file_off, 1e-5, {"layer": number}))
    return tuple(errors)


def scene_row_error(source: Source, layer: int, mask: Mask) -> tuple[int, int, float]:
    """A random head and row of a scene's layer, and how far they are from what another way makes of them."""
    head, place = random_cell(read(source).calls[layer], source, layer, mask)
    expected, page_trace = row_of(source, layer, mask, head, place), trace(source, layer, mask)
    off = row_error(expected, page_trace.weights[head, place])
    pairs = ((expected.head_output, page_trace.head_outputs[head, place]), (expected.output, page_trace.output[place]))
    for recomputed, page_values in pairs:
        if recomputed is not None:
            off = max(off, float((recomputed - page_values).abs().max() / recomputed.abs().max().clamp(min=1.0)))
    return head, place, off


@cached
def wrong_tokens(source: Source) -> int:
    """Return how many labels of a text, or numbers of its tokens, are not what its tokenizer itself says."""
    text_capture = read(source)
    target = text_capture.target if source.target else None
    return wrong_tokens_of(source, text_capture.tokens) + (_wrong_target(source, target) if target else 0)


@cached
def wrong_rows(source: Source, view: View) -> int:
    """Return how many tokens stand in a row or column of the head grid whose label has not their letters."""
    text_capture, wrong = read(source), 0
    for tokens in {id(side): side for side in (text_capture.queries, text_capture.tokens)}.values():
        message = head_grid.axis(tokens, view).sent()
        if source.kind == "words":
            wrong += wrong_numbers_of_words(tokens.ids, [message["labels"][row] for row in message["of"]])
            continue
        tokenizer = model(source.model).tokenizer
        wrong += wrong_labels(tokenizer, tokens.ids, message["labels"], message["of"], merged=view.merge)
    return wrong


def wrong_tokens_of(source: Source, tokens: Tokens) -> int:
    """The same of tokens that a page read in its own way; of a text that was cut its beginning is compared."""
    if source.kind == "words":
        return wrong_words(source.text, tokens.ids, tokens.labels)
    tokenizer = model(source.model).tokenizer
    n_wrong = wrong_numbers(tokenizer, source.text, tokens.ids, tokens.n_excess)
    return n_wrong + wrong_labels(tokenizer, tokens.ids, tokens.labels)


def _wrong_target(source: Source, target: Tokens) -> int:
    """Of a second text: a model's decoder reads it one place later, so that only its labels are compared."""
    if source.kind == "words":
        return wrong_words(source.target, target.ids, target.labels)
    return wrong_labels(model(source.model).tokenizer, target.ids, target.labels)


def vector_error(source: Source) -> tuple[int, float]:
    """A random place of a text of seeded heads, and how far the vector they read there is from the token's own."""
    text_capture = read(source)
    x, ids = text_capture.calls[0].memory, text_capture.tokens.ids
    place = random_place(len(ids), source, "vector")
    if source.kind == "words":
        number = zlib.crc32(f"{source.seed} {ids[place]}".encode())
        alone = torch.randn(x.shape[1], generator=torch.Generator().manual_seed(number))
    else:
        alone = model(source.model).embeddings([ids[place]])
        alone = layer_norm(alone, alone.shape[1:])[0]
    return place, float((alone - x[place]).abs().max())


@cached
def grid_errors(source: Source, mask: Mask, view: View, layer: int, head: int) -> tuple[Compared, ...]:
    """Compare the grid's labels, a random row of its small maps, and a random row of the large one."""
    labels: Compared = "truth.grid_labels", wrong_rows(source, view), 0, {}
    if view != View():
        return (labels,)
    text_capture, wall = read(source), head_grid.wall(source, mask, view)
    any_layer = random_place(text_capture.n_layers, source, mask, "wall")
    any_head, row = random_cell(text_capture.calls[any_layer], source, any_layer, mask)
    rows = [labels]
    if wall.pool == 1:
        row_values = _row_of_wall(wall, any_layer, any_head, row)
        rows.append(
            _compare_row("truth.wall", source, mask, text_capture, (any_layer, any_head, row), row_values, 1 / TOP)
        )
    large = _row_of_head(head_grid.head_scores(source, layer, head, mask, view), row)
    if large is not None:
        rows.append(_compare_row("truth.large", source, mask, text_capture, (layer, head, row), large))
    return tuple(rows)


def _compare_row(
    key: str,
    source: Source,
    mask: Mask,
    text_capture: Capture,
    place: tuple[int, int, int],
    row_values: np.ndarray,
    coded: float = 0.0,
) -> Compared:
    """Hold a row that is sent, in a layer and of a head, to the same row by another way."""
    layer, head, row = place
    call = text_capture.calls[layer]
    if has_own_row(source):
        off = row_error(row_of(source, layer, mask, head, row), torch.from_numpy(row_values))
    else:
        # A model's heads between two texts are held to torch's own attention on what went in.
        options = with_mask(call.options, mask_by_rule(mask, call.q.shape[1], call.k.shape[1]))
        weights = sdpa_weights(call.q, call.k, **options)[head, row]
        off = float((weights - torch.from_numpy(row_values)).abs().max())
    tolerance = row_tolerance(call, head, row) + coded
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


@cached
def weights_error(source: Source, layer: int) -> float | None:
    """Return how far random blocks of a layer's weights are from the model's file; None if it cannot be read."""
    loaded_model, ids = model(source.model), read(source).tokens.ids
    token = ids[random_place(len(ids), source, layer, "token")]
    return file_error(loaded_model, layer, token, source, layer)


@cached
def without_error(source: Source, layer: int, heads_off: frozenset[Head], place: int) -> float | None:
    """Return how far the state of a token behind a layer without some heads is off; None where it is not known.

    A model's own layer is run once more on its own state. Seeded heads have one layer: theirs is the output less each
    head's own part, in float64.
    """
    source_capture, without = read(source), read(source, heads_off)
    heads = sorted(head for _, head in heads_off)
    if source.kind != "model":
        weights = source_capture.calls[0].projections
        w_o = weights.w_o.double().unflatten(0, (weights.spec.H, -1))
        parts = [
            trace(source, layer, Mask()).head_outputs[head, place].double() @ w_o[head] for head in range(len(w_o))
        ]
        remaining = sum(part for head, part in enumerate(parts) if head not in heads)
        return _share_off(remaining + torch.zeros(w_o.shape[-1]), without.final[place])
    loaded_model = model(source.model)
    stack = loaded_model.layers[0].layout.stack
    if not has_own_attention(loaded_model) or source.target or stack not in without.states:
        return None
    expected = own_state_without(loaded_model, source_capture, layer, heads)
    state = without.states[stack][loaded_model.layers[layer].block + 1]
    return None if expected is None else _share_off(expected[place], state[place])


def _share_off(expected: Tensor, actual: Tensor) -> float:
    return float((expected - actual).abs().max() / expected.abs().max().clamp(min=1.0))
