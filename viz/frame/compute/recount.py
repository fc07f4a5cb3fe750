"""Small parts of a page's numbers, computed by a second way and cached, for its live checks."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from viz.core.analysis.checks import scores_rounding, sink_share
from viz.core.heads import HeadWeights
from viz.core.random_place import random_place
from viz.core.spec import AttentionSpec
from viz.frame.compute import cached, model, read, trace
from viz.frame.compute.head_grid import axis
from viz.frame.compute.mask_rule import mask_by_rule
from viz.frame.specs import Mask, Source, View
from viz.models.capture import Call, Head
from viz.models.recount.own_attention import has_own_attention, own_row, own_state_without
from viz.models.recount.token_labels import wrong_labels, wrong_numbers, wrong_numbers_of_words, wrong_words
from viz.models.recount.weights import file_error
from viz.models.tokens import Tokens

Compared = tuple[str, float, float, dict[str, Any]]
"""What was compared (a text key), how far it is off, how far it may be, and the values of the text."""

LEAST = 1e-12
"""Weight that a mask must leave of a row for the row to be compared: below it float32 has lost what stood there."""

MOST_ROUNDED = 0.05
"""Weight that rounding may move in a row of scores of thousands."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of one head of a layer, (K,), by another way than the page's, and what it hands on, if that is known.

    ``head_output`` (d_v,) is the head's own output in this row, or ``output`` (d_out,) that of all heads behind W_O.
    """

    layer: int
    head: int
    row: int
    weights: Tensor
    head_output: Tensor | None = None
    output: Tensor | None = None


def random_cell(call: Call, source: Source, layer: int, mask: Mask) -> tuple[int, int]:
    """The head and the row of a layer that the checks of a scene look at: for the same scene the same."""
    n_heads, n_rows = call.q.shape[:2]
    return random_place(n_heads, source, layer, mask, "head"), random_place(n_rows, source, layer, mask, "row")


def has_own_row(source: Source) -> bool:
    """Return True if a row of this source's heads can be recomputed: of seeded heads, and of a model on one text."""
    return source.kind != "model" or (not source.target and has_own_attention(model(source.model)))


@cached
def row_of(source: Source, layer: int, mask: Mask, head: int, row: int) -> Row:
    """One row of a head: by transformers' own attention where it is a model's, by NumPy where the heads are seeded."""
    text_capture = read(source)
    if source.kind == "model":
        weights, output = own_row(model(source.model), text_capture, layer, head, row)
        if mask.kind == "own":
            return Row(layer=layer, head=head, row=row, weights=weights, output=output)
        return Row(layer=layer, head=head, row=row, weights=_among(weights, mask, text_capture.calls[layer], head, row))
    return _seeded_row(source, text_capture.calls[layer], mask, layer, head, row)


def _open_keys(mask: Mask, call: Call, row: int) -> Tensor:
    is_open = mask_by_rule(mask, call.q.shape[1], call.k.shape[1])
    return torch.ones(call.k.shape[1], dtype=torch.bool) if is_open is None else is_open[row]


def _among(weights: Tensor, mask: Mask, call: Call, head: int, row: int) -> Tensor:
    """Return a row of weights under a further mask, divided by its sum; NaN where float32 has rounded the sum to 0."""
    is_open = _open_keys(mask, call, row)
    layer_mask = call.options.get("allowed")
    if layer_mask is not None:
        is_open = is_open & layer_mask.expand(call.q.shape[0], *layer_mask.shape[-2:])[0, row]
    remaining = weights * is_open
    total = remaining.sum()
    # No mask closes the sink.
    if (sink_weight := sink_share(call.q, call.k, **call.options)) is not None:
        total = total + sink_weight[head, row].to(total.dtype)
    if not is_open.any():
        return remaining
    return remaining / total if float(total) > LEAST else torch.full_like(remaining, torch.nan)


def _seeded_row(source: Source, call: Call, mask: Mask, layer: int, head: int, row: int) -> Row:
    """A row of seeded heads in float64, from their vectors and from weights drawn anew."""
    x, memory = call.x.double().numpy(), call.memory.double().numpy()
    spec = AttentionSpec(d_model=x.shape[1], n_heads=source.n_heads, n_kv_heads=source.n_kv_heads)
    weights, group = HeadWeights.random(spec, seed=source.seed), head * spec.G // spec.H
    w_q, w_k, w_v = (w.double().numpy() for w in (weights.w_q, weights.w_k, weights.w_v))
    query_columns, key_columns = (
        slice(head * spec.d_k, (head + 1) * spec.d_k),
        slice(group * spec.d_k, (group + 1) * spec.d_k),
    )
    scores = (memory @ w_k[:, key_columns]) @ (x[row] @ w_q[:, query_columns]) / np.sqrt(spec.d_k)
    is_open = _open_keys(mask, call, row).numpy()
    shares = (
        np.where(is_open, np.exp(scores - scores[is_open].max(initial=-np.inf)), 0.0) if is_open.any() else scores * 0
    )
    shares = shares / max(shares.sum(), 1e-300)
    values = memory @ w_v[:, group * spec.d_v : (group + 1) * spec.d_v]
    return Row(
        layer=layer,
        head=head,
        row=row,
        weights=torch.from_numpy(shares),
        head_output=torch.from_numpy(shares @ values),
    )


def row_error(row: Row, weights: Tensor) -> float:
    """Return how far weights that are shown, (K,), are from a row computed by another way."""
    off = (row.weights - weights).abs()
    return 0.0 if bool(row.weights.isnan().all()) else float(off.max())


def row_tolerance(call: Call, head: int, row: int) -> float:
    """Return how far a row of a layer may be off: large scores are rounded more, and each rounds in its own way."""
    lost = scores_rounding(call.q, call.k, call.options.get("scale"))[head, row]
    return 1e-4 + min(MOST_ROUNDED, 4 * float(lost))


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
    text_capture, target = read(source), source.target
    if not target:
        return _wrong(source, source.text, text_capture.tokens)
    return _wrong(source, source.text, text_capture.tokens) + (
        0 if text_capture.target is None else _wrong_target(source, text_capture.target)
    )


@cached
def wrong_rows(source: Source, view: View) -> int:
    """Return how many tokens stand in a row or column of the head grid whose label has not their letters."""
    text_capture, wrong = read(source), 0
    for tokens in {id(side): side for side in (text_capture.queries, text_capture.tokens)}.values():
        message = axis(tokens, view).sent()
        if source.kind == "words":
            wrong += wrong_numbers_of_words(tokens.ids, [message["labels"][row] for row in message["of"]])
            continue
        tokenizer = model(source.model).tokenizer
        wrong += wrong_labels(tokenizer, tokens.ids, message["labels"], message["of"], merged=view.merge)
    return wrong


def wrong_tokens_of(source: Source, tokens: Tokens) -> int:
    """The same of tokens that a page read in its own way; of a text that was cut its beginning is compared."""
    return _wrong(source, source.text, tokens)


def _wrong_target(source: Source, target: Tokens) -> int:
    """Of a second text: a model's decoder reads it one place later, so that only its labels are compared."""
    if source.kind == "words":
        return wrong_words(source.target, target.ids, target.labels)
    return wrong_labels(model(source.model).tokenizer, target.ids, target.labels)


def _wrong(source: Source, text: str, tokens: Tokens) -> int:
    if source.kind == "words":
        return wrong_words(text, tokens.ids, tokens.labels)
    tokenizer = model(source.model).tokenizer
    n_wrong = wrong_numbers(tokenizer, text, tokens.ids, tokens.n_excess)
    return n_wrong + wrong_labels(tokenizer, tokens.ids, tokens.labels)


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
