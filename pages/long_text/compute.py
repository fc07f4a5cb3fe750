"""Cached computations of the page: a pass over a text, one head's map of it, and small maps of every head."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from viz.core.heads import HeadWeights
from viz.core.long.rows import evenly_spaced
from viz.core.long.shapes import Fit, fit_shapes
from viz.core.long.streamed import LongMap, side_of
from viz.core.spec import AttentionSpec
from viz.frame.compute import model
from viz.frame.compute.long_texts import kept_long, kept_pass, tell
from viz.frame.specs import Source
from viz.models.long.capture import LongCapture, long_capture, long_seeded, longest
from viz.models.tokens import Tokens, read_text, seeded_embeddings, split_words

SAMPLED = 256
"""Rows that the small map of a head is made of, and its shape is fitted to."""

SMALL = 48
"""Of a small map's side, at most."""


@dataclass(frozen=True, kw_only=True)
class LongText:
    """A text to be read: the source with it, how often it is repeated, and how many tokens are read at most."""

    source: Source
    times: int = 1
    most: int

    @property
    def whole(self) -> str:
        """The text, as often as it is to be read."""
        return "\n\n".join([self.source.text] * self.times)


@dataclass(frozen=True, kw_only=True)
class SmallMaps:
    """Every head of a layer in some rows: the largest weight of each cell, (H, C, C), and which shape fits."""

    cells: Tensor
    fits: tuple[Fit, ...]


def tokens_of(text: LongText) -> Tokens:
    """The tokens that are read; how many more there are is counted."""
    if text.source.kind == "words":
        return split_words(text.whole, text.most)
    loaded_model = model(text.source.model)
    most = min(text.most, longest(loaded_model)) if text.source.kind == "model" else text.most
    return read_text(loaded_model.tokenizer, text.whole, most)


@kept_pass
def read(text: LongText) -> LongCapture:
    """Q and k of every layer."""
    tokens = tokens_of(text)
    if text.source.kind == "model":
        loaded_model = model(text.source.model)
        return long_capture(loaded_model, tokens, lambda n_done: tell(n_done / loaded_model.n_layers))
    x = _vectors(text.source, tokens)
    spec = AttentionSpec(d_model=x.shape[1], n_heads=text.source.n_heads, n_kv_heads=text.source.n_kv_heads)
    return long_seeded(tokens, x, HeadWeights.random(spec, seed=text.source.seed))


def _vectors(source: Source, tokens: Tokens) -> Tensor:
    """One vector a token, (T, d_model), as seeded heads see it on every page; each word's is drawn once."""
    kinds = tuple(dict.fromkeys(tokens.ids))
    place = {token: i for i, token in enumerate(kinds)}
    if source.kind == "words":
        vectors = seeded_embeddings(kinds, source.d_model, source.seed)
    else:
        vectors = model(source.model).embeddings(list(kinds))
        vectors = layer_norm(vectors, vectors.shape[1:])
    return vectors[torch.tensor([place[token] for token in tokens.ids])]


@kept_long
def head_map(text: LongText, layer: int, head: int) -> LongMap:
    """One head's map, and its rows."""
    capture = read(text)
    return capture.map_of(layer, head)


@kept_long
def row_of(text: LongText, layer: int, head: int, row: int) -> Tensor:
    """The whole of one row's weights, (T,)."""
    capture = read(text)
    return capture.rows_of(layer, head, torch.tensor([row]))[0]


@kept_long
def small_maps(text: LongText, layer: int) -> SmallMaps:
    """Every head of a layer, small, and its shape."""
    capture = read(text)
    at, fits = evenly_spaced(len(capture.tokens.ids), SAMPLED), []
    for head in range(capture.n_heads):
        weights = capture.rows_of(layer, head, at)
        fits.append((_cells(weights, at), fit_shapes(weights, at, causal=capture.causal, sees=capture.sees(layer, at))))
    return SmallMaps(cells=torch.stack([cells for cells, _ in fits]), fits=tuple(fit for _, fit in fits))


def _cells(weights: Tensor, at: Tensor) -> Tensor:
    """The largest weight of each cell, (C, C), of some rows of a map."""
    n = weights.shape[1]
    side = side_of(n, SMALL)
    count = -(-n // side)
    wide = torch.nn.functional.pad(weights, (0, count * side - n)).view(len(at), count, side).amax(-1)
    rows = (at // side)[:, None].expand(-1, count)
    return torch.zeros(count, count).scatter_reduce_(0, rows, wide, "amax")
