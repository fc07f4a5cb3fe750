"""Cached data of the head grid: every head of a text, encoded for the browser."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from viz.components.head_grid import Axis, Packed, pack_combined, pack_head, pack_wall
from viz.components.take_away import Heads, Stack, payload
from viz.core.analysis import map_statistics
from viz.core.analysis.head_statistics import cross_head_statistics, head_statistics
from viz.core.attention import AttentionTrace
from viz.frame.compute import cached, read, trace
from viz.frame.specs import Mask, Source, View
from viz.models.capture import Capture, Head
from viz.models.tokens import Tokens, word_labels


@dataclass(frozen=True, kw_only=True)
class LayerMaps:
    """The maps of one layer as a view shows them: (H, rows, columns), and a label for each row and each column."""

    values: Tensor
    labels: tuple[str, ...]
    columns: tuple[str, ...]


def _visible(tokens: Tokens, view: View) -> Tensor:
    """True for each token, or word, of an axis that stays where special tokens are hidden."""
    special = torch.tensor(tokens.special)
    if view.merge:
        special = torch.zeros(tokens.words[-1] + 1).index_add(0, torch.tensor(tokens.words), special.float()) > 0
    return ~special


def axis(tokens: Tokens, view: View) -> Axis:
    """For each token the row (or column) of the view it is part of, -1 where it is hidden; and the view's labels."""
    of, labels = list(range(len(tokens.ids))), tokens.labels
    if view.merge:
        of, labels = list(tokens.words), word_labels(tokens)
    if view.hide:
        hidden_rows = {row for row, special in zip(of, tokens.special, strict=True) if special}
        places = {row: place for place, row in enumerate(row for row in range(len(labels)) if row not in hidden_rows)}
        of, labels = [places.get(row, -1) for row in of], tuple(labels[row] for row in places)
    return Axis(of=of, labels=labels)


def look(steps: AttentionTrace, text_capture: Capture, view: View) -> Tensor:
    """The maps of a layer as a view shows them, (H, rows, columns)."""
    queries, keys, weights = text_capture.queries, text_capture.tokens, view.what == "weights"
    values = steps.weights if weights else steps.masked
    if view.merge:
        merge = map_statistics.merge_words if weights else map_statistics.mean_words
        values = merge(values, torch.tensor(queries.words), torch.tensor(keys.words))
    if view.hide:
        rows, columns = _visible(queries, view), _visible(keys, view)
        values = map_statistics.hide(values, rows, columns) if weights else values[:, rows][..., columns]
    return values


@cached
def layer_maps(source: Source, layer: int, mask: Mask, view: View) -> LayerMaps:
    """Weights (pieces merged, special tokens hidden, rows summing to 1 again) or scaled scores, of every head.

    Scores are logits, which neither add up over pieces nor renormalise: merging takes the mean of a word's pairs,
    hiding leaves cells out.
    """
    text_capture = read(source)
    queries, keys = (tuple(axis(side, view).labels) for side in (text_capture.queries, text_capture.tokens))
    return LayerMaps(values=look(_steps(text_capture, layer, mask), text_capture, view), labels=queries, columns=keys)


def _steps(text_capture: Capture, layer: int, mask: Mask) -> AttentionTrace:
    allowed = mask.allowed(len(text_capture.queries.ids), len(text_capture.tokens.ids))
    with torch.inference_mode():
        return text_capture.layer(layer, allowed=allowed)


def measures(text_capture: Capture) -> Callable[[Tensor], Mapping[str, Tensor]]:
    """Return the function of a layer's weights that gives the numbers of each head: between two texts fewer."""
    queries, keys = text_capture.queries, text_capture.tokens
    ids, special = torch.tensor(keys.ids), torch.tensor(keys.special)
    if text_capture.is_cross:
        query_ids = torch.tensor(queries.ids)
        return lambda weights: vars(cross_head_statistics(weights, query_ids, ids, special))
    return lambda weights: vars(head_statistics(weights, ids, special))


@cached
def wall(source: Source, mask: Mask, view: View) -> Packed:
    """Every head of every layer, ready for the head grid, with the numbers of each head's portrait to sort by."""
    text_capture = read(source)
    measure = measures(text_capture)

    def layers() -> Iterator[tuple[Tensor, Mapping[str, Tensor]]]:
        for layer in range(text_capture.n_layers):
            steps = _steps(text_capture, layer, mask)
            yield look(steps, text_capture, view), measure(steps.weights)

    numbers = {"numbers": text_capture.numbers} if text_capture.numbers else {}
    return pack_wall(layers(), n_layers=text_capture.n_layers, what=view.what, channel=source.channel, **numbers)


@cached
def head_scores(source: Source, layer: int, head: int, mask: Mask, view: View) -> Packed:
    """The chosen head: its scores as the view shows them, or, for weights, those of all tokens.

    From these the browser computes the weights at any temperature, and merges and hides like
    :mod:`viz.core.analysis.map_statistics`.
    """
    if view.what == "scores":
        scores = layer_maps(source, layer, mask, view).values[head]
    else:
        scores = trace(source, layer, mask).masked[head]
    sink = read(source).calls[layer].options.get("sink")
    with_sink = {} if sink is None or view.what == "scores" else {"sink": float(sink[head])}
    return pack_head(scores, layer=layer, head=head, channel=source.channel, **with_sink)


@cached
def combined(source: Source, heads: frozenset[Head], how: str, mask: Mask, view: View) -> Packed:
    """The mean or the largest weight of several heads, for walls too large to do it in the browser."""
    total: Tensor | None = None
    for layer in sorted({layer for layer, _ in heads}):
        layer_heads = [head for head_layer, head in heads if head_layer == layer]
        maps = layer_maps(source, layer, mask, view).values[layer_heads]
        part = maps.sum(0) if how == "mean" else maps.amax(0)
        total = part if total is None else (total + part if how == "mean" else total.maximum(part))
    assert total is not None
    return pack_combined(
        total / len(heads) if how == "mean" else total, combined=how, heads=sorted(heads), channel=source.channel
    )


@cached
def links(source: Source, mask: Mask, view: View, query: int, key: int) -> tuple[float, ...]:
    """Return every head's value for one pair, for a wall that is pooled; rows and columns of the view."""
    text_capture = read(source)
    layers = (_steps(text_capture, i, mask) for i in range(text_capture.n_layers))
    maps = (look(steps, text_capture, view) for steps in layers)
    return tuple(value for layer in maps for value in layer[:, query, key].tolist())


@cached
def away(source: Source, mask: Mask, view: View, nobody: str = "") -> bytes:
    """Every head as :func:`wall` and :func:`head_scores` have it, for a page that leaves the app.

    Where a layer has a sink, what rows give to no word stands in a last column, ``nobody``. It is hidden with the
    tokens that are: the rows that are left sum to 1, as they do in the app.
    """
    text_capture = read(source)
    queries, keys = axis(text_capture.queries, view), axis(text_capture.tokens, view)
    measure = measures(text_capture)
    has_sink = view.what == "weights" and any(call.options.get("sink") is not None for call in text_capture.calls)
    same, plain = not text_capture.is_cross, view == View()
    if has_sink:
        labels = keys.labels if view.hide else (*keys.labels, nobody)
        keys, same = Axis(of=[*keys.of, -1 if view.hide else len(keys.labels)], labels=labels), same and view.hide

    def heads(layer: int) -> Heads:
        steps = _steps(text_capture, layer, mask)
        view_maps = None if plain else look(steps, text_capture, view)
        masked, numbers = steps.masked.isneginf().all(0), measure(steps.weights)
        weights, scores = steps.weights, steps.masked
        if has_sink:
            scores, masked = _with_sink(scores, text_capture.calls[layer].options.get("sink")), pad(masked, (0, 1))
        logs = scores.log_softmax(-1).nan_to_num(nan=-torch.inf, neginf=-torch.inf)
        if has_sink:
            rest = logs[..., -1:].exp()
            weights = torch.cat([weights, rest], -1)
            if view_maps is not None and not view.hide:
                if view.merge:
                    # What the pieces of a word give to no word, on average.
                    words, no_word = torch.tensor(text_capture.queries.words), torch.zeros(1, dtype=torch.long)
                    rest = map_statistics.merge_words(rest, words, no_word)
                view_maps = torch.cat([view_maps, rest], -1)
        return Heads(weights=weights, measures=numbers, masked=masked, logarithms=logs, shown=view_maps)

    stack = Stack(
        name="cross" if text_capture.is_cross else "self",
        layers=map(heads, range(text_capture.n_layers)),
        n_layers=text_capture.n_layers,
        numbers=text_capture.numbers,
        queries=queries,
        keys=keys,
        same=same,
        what=view.what,
        renormalise=view.hide,
    )
    return payload([stack])


def _with_sink(scores: Tensor, sink: Tensor | None) -> Tensor:
    """Put the heads' scores for no word behind those for words, (H, Q, K + 1); -inf in a layer without a sink."""
    rest = torch.full((len(scores),), -torch.inf) if sink is None else sink
    return torch.cat([scores, rest[:, None, None].expand(-1, scores.shape[1], 1)], -1)
