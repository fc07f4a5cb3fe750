"""Every cache of the project. Keys are frozen specs of small values, never tensors; every cache is bounded.

What a cache returns is shared by all visitors and must not be changed. What is ``@kept`` is computed in its turn
(:mod:`viz.ui.turns`), once for all who ask, and kept in one memory that is bounded in bytes (:mod:`viz.ui.kept`).
"""

import gc
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ParamSpec, TypeVar

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import layer_norm
from torch.utils.flop_counter import FlopCounterMode

from viz.core.attention import AttentionTrace
from viz.core.decode_time import DecodePlan, decode_seconds
from viz.core.encodings import Encoding, encode, encodings, no_table
from viz.core.fit import WindowFit, fit_layers
from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.spec import AttentionSpec
from viz.core.timed_layers import CANDIDATES, Plan
from viz.models import places, registry
from viz.models.capture import Capture, Head, capture, seeded
from viz.models.cross import cross, describe
from viz.models.layout import LoadedModel
from viz.models.load import load
from viz.models.sharing import with_fewer, wrongly_shared
from viz.models.tokens import Tokens, read_text, seeded_embeddings, split_words
from viz.ui import limits
from viz.ui.kept import Kept, Store
from viz.ui.measuring import Measurement
from viz.ui.specs import MASKS, Mask, Placing, Shown, Source, View, local_entries, look
from viz.ui.turns import Turns, quietly
from viz.ui.waiting import aside, called_away, until
from viz.views.head_grid import Packed, pack_combined, pack_head, pack_wall

GARBAGE = 7_000
P = ParamSpec("P")
R = TypeVar("R")
DEFAULT_MODEL = registry.entries()[0].id

__all__ = ["MASKS", "Mask", "Placing", "Shown", "Source", "View", "local_entries"]  # and the caches below


@st.cache_resource(max_entries=1, show_spinner=False)
def warm() -> bool:
    """Once for each process: torch's threads, the hub, and what the imports left kept out of every later collection.

    Streamlit collects garbage after every run; with torch and transformers imported that alone takes 200 ms.
    """
    torch.set_num_threads(limits.TORCH_THREADS)
    registry.hub()
    gc.set_threshold(GARBAGE)  # one run of a page makes tens of thousands of objects, nearly all without cycles
    gc.collect()
    gc.freeze()
    return True


turns = Turns(limits.FORWARD_PASSES, limits.QUEUE, {"lesson": limits.LESSONS, "measure": limits.MEASUREMENTS})
models = Store(limits.MODELS_BYTES, Turns(1, limits.QUEUE, {}), limits.SECONDS, aside=aside)
results = Store(limits.CACHE_BYTES, turns, limits.SECONDS, called_away, aside, limits.SHORT, models.storages)


def kept(function: Callable[P, R]) -> Kept[P, R]:
    """Compute in turn, once for all who ask, and keep."""
    return Kept(function, results, "pass", until)


@partial(Kept, store=models, kind="load", wait=until)
def model(model_id: str) -> LoadedModel:
    """A loaded model, shared by all visitors."""
    loaded = load(model_id, extra=local_entries())
    gc.collect()
    gc.freeze()
    return loaded


def bare(source: Source) -> tuple[Tokens, Tensor]:
    """A text's tokens, and their vectors (T, d_model) before any position is added."""
    if source.kind == "words":
        tokens = split_words(source.text, limits.TOKENS)
        return tokens, seeded_embeddings(tokens.ids, source.d_model, source.seed)
    loaded = model(source.model)
    tokens = read_text(loaded.tokenizer, source.text, min(limits.TOKENS, loaded.max_tokens))
    return tokens, loaded.embeddings(list(tokens.ids))


@kept
def read(source: Source, heads_off: frozenset[Head] = frozenset()) -> Capture:
    """A text as seen from a source; with a target, that text asks and this one answers."""
    if source.target:
        alone = replace(source, target="")
        return cross(read(alone), lambda: read(replace(alone, text=source.target)), lambda: _run(source))
    return _run(source, heads_off)


def _run(source: Source, heads_off: frozenset[Head] = frozenset()) -> Capture:
    if source.kind == "model":
        loaded, target = model(source.model), source.target or None
        return capture(loaded, source.text, target=target, max_tokens=limits.TOKENS, heads_off=heads_off)
    tokens, vectors = bare(source)
    return on_seeded_heads(source, tokens, vectors, heads_off)


def on_seeded_heads(source: Source, tokens: Tokens, x: Tensor, heads_off: frozenset[Head] = frozenset()) -> Capture:
    """Seeded heads on any vectors of a source's tokens, (T, d_model)."""
    if source.kind == "embeddings":
        # Every model normalises its embeddings first; without that, seeded heads would see rows of length near 0.
        x = layer_norm(x, x.shape[1:])
    spec = AttentionSpec(d_model=x.shape[1], n_heads=source.n_heads, n_kv_heads=source.n_kv_heads)
    return seeded(tokens, x, HeadWeights.random(spec, seed=source.seed), heads_off)


def own_rows(source: Source) -> Tensor | None:
    """The table of positions of the model the tokens come from, if there is a model and it has one."""
    return model(source.model).positions() if source.model else None


@kept
def row_gain(source: Source) -> float:
    """By how much a formula's rows are scaled to suit a model's tokens; the formula's own beside N(0, 1) numbers."""
    _, vectors = bare(source)
    return places.row_length(vectors, own_rows(source)) / (vectors.shape[1] / 2) ** 0.5 if source.model else 1.0


def every_encoding(source: Source, placing: Placing) -> dict[str, Encoding]:
    """Every way to tell this source's heads where a word is, by its code."""
    every = encodings(
        base=placing.base, alpha=placing.alpha, delta=placing.delta, seed=source.seed, rows=own_rows(source)
    )
    return every | {"sinusoidal": every["sinusoidal"].scale_table(row_gain(source))}


@kept
def placed(source: Source, placing: Placing) -> Capture:
    """The first tokens of a text, read with other positions, or in another order.

    Only the encoding's table has been added; turns and biases are up to :func:`viz.core.encodings.encode`.
    """
    tokens, vectors = bare(source)
    tokens, vectors = places.first(tokens, limits.PLACED_TOKENS), vectors[: limits.PLACED_TOKENS]
    if placing.order:
        tokens, vectors = places.reorder(tokens, placing.order), vectors[list(placing.order)]
    table = every_encoding(source, placing)[placing.code].table(*vectors.shape)
    if source.kind != "model":
        return on_seeded_heads(source, tokens, vectors + table)
    return places.capture_placed(model(source.model), tokens, table)


def first_layer(source: Source, placing: Placing) -> MultiHeadTrace:
    """The first layer of heads told where its words are, no mask.

    Raises:
        ValueError: if the encoding does not fit the heads' sizes.
    """
    how = every_encoding(source, placing)[placing.code]
    added = Placing(order=placing.order) if how.table is no_table else placing
    call = placed(source, added).calls[0]
    with torch.inference_mode():
        options = {name: call.options[name] for name in ("scale", "score_mod") if name in call.options}
        return encode(call.x, call.projections, how, **options)


@kept
def encoded(source: Source, placing: Placing) -> Tensor:
    """The scaled scores of :func:`first_layer` with the encoding's bias, (H, T, T)."""
    return first_layer(source, placing).masked


@kept
def trace(source: Source, layer: int, mask: Mask, heads_off: frozenset[Head] = frozenset()) -> MultiHeadTrace:
    """Every intermediate of one layer."""
    seen = read(source, heads_off)
    n_queries, n_keys = seen.calls[layer].q.shape[1], seen.calls[layer].k.shape[1]
    with torch.inference_mode():
        return seen.multi_head(layer, allowed=mask.allowed(n_queries, n_keys))


@kept
def shared(source: Source, layer: int, mask: Mask, n_kv_heads: int, mistake: bool = False) -> MultiHeadTrace:
    """A layer whose key/value heads are pooled into fewer; ``mistake`` shares them out in the wrong order."""
    with torch.inference_mode():
        seen = with_fewer(read(source), n_kv_heads)
        allowed = mask.allowed(seen.calls[layer].q.shape[1], seen.calls[layer].k.shape[1])
        return wrongly_shared(seen, layer, allowed=allowed) if mistake else seen.multi_head(layer, allowed=allowed)


@partial(Kept, store=results, kind="measure", wait=until)
def decode_time(plan: DecodePlan, n_kv_heads: int) -> float:
    """Seconds a step of decoding takes on this machine, measured once for everybody."""
    return decode_seconds(plan, n_kv_heads)


@kept
def shown(source: Source, layer: int, mask: Mask, view: View, heads_off: frozenset[Head] = frozenset()) -> Shown:
    """Weights (pieces merged, special tokens hidden, rows summing to 1 again) or scaled scores, of every head.

    Scores are logits, which neither add up over pieces nor renormalise: merging takes the mean of a word's pairs,
    hiding leaves cells out.
    """
    seen = read(source, heads_off)
    return look(_steps(source, layer, mask, heads_off), seen.queries, seen.tokens, view)


def _steps(source: Source, layer: int, mask: Mask, heads_off: frozenset[Head]) -> AttentionTrace:
    seen = read(source, heads_off)
    with torch.inference_mode():
        return seen.layer(layer, allowed=mask.allowed(len(seen.queries.ids), len(seen.tokens.ids)))


@kept
def wall(source: Source, mask: Mask, view: View, heads_off: frozenset[Head] = frozenset()) -> Packed:
    """Every head of every layer, ready for the head grid, with the numbers of each head's portrait to sort by."""
    seen = read(source, heads_off)

    def layers() -> Iterator[tuple[Tensor, Mapping[str, Tensor]]]:
        for layer in range(seen.n_layers):
            steps = _steps(source, layer, mask, heads_off)
            yield look(steps, seen.queries, seen.tokens, view).values, describe(seen, steps.weights)

    return pack_wall(layers(), n_layers=seen.n_layers, what=view.what, channel=source.channel)


@kept
def head_scores(
    source: Source, layer: int, head: int, mask: Mask, view: View, heads_off: frozenset[Head] = frozenset()
) -> Packed:
    """The chosen head: its scores as the view shows them, or, for weights, those of all tokens.

    From these the browser computes the weights at any temperature, and merges and hides like :mod:`viz.core.measures`.
    """
    if view.what == "scores":
        scores = shown(source, layer, mask, view, heads_off).values[head]
    else:
        scores = trace(source, layer, mask, heads_off).masked[head]
    return pack_head(scores, layer=layer, head=head, channel=source.channel)


@kept
def combined(
    source: Source, heads: frozenset[Head], how: str, mask: Mask, view: View, heads_off: frozenset[Head] = frozenset()
) -> Packed:
    """The mean or the largest weight of several heads, for walls too large to do it in the browser."""
    total: Tensor | None = None
    for layer in sorted({layer for layer, _ in heads}):
        maps = shown(source, layer, mask, view, heads_off).values[[head for each, head in heads if each == layer]]
        part = maps.sum(0) if how == "mean" else maps.amax(0)
        total = part if total is None else (total + part if how == "mean" else total.maximum(part))
    assert total is not None
    return pack_combined(
        total / len(heads) if how == "mean" else total, combined=how, heads=sorted(heads), channel=source.channel
    )


@kept
def links(
    source: Source, mask: Mask, view: View, query: int, key: int, heads_off: frozenset[Head] = frozenset()
) -> tuple[float, ...]:
    """What every head shows for one pair, where the wall is too coarse to tell; rows and columns of the view."""
    seen = read(source, heads_off)
    steps = (_steps(source, i, mask, heads_off) for i in range(seen.n_layers))
    maps = (look(each, seen.queries, seen.tokens, view).values for each in steps)
    return tuple(value for layer in maps for value in layer[:, query, key].tolist())


@st.cache_resource(max_entries=limits.COUNTS_KEPT, show_spinner=False)
def counted_flops(d: int, h: int, k: int, n: int) -> dict[str, int]:
    """What torch's own counter counts in each timed layer; on the meta device, so nothing is computed."""
    plan = Plan(d=d, h=h, k=k, lengths=(n,), seconds=0, device="meta")
    counted = {}
    for name, candidate in CANDIDATES.items():
        run = candidate.make(plan, n)
        with FlopCounterMode(display=False) as counter:
            run()
        counted[name] = counter.get_total_flops()
    return counted


_measuring = threading.BoundedSemaphore(1), threading.BoundedSemaphore(limits.MEASUREMENTS_WAITING)


@st.cache_resource(max_entries=limits.MEASUREMENTS_KEPT, show_spinner=False)
def measurement(plan: Plan) -> Measurement:
    """The measurement of a plan: not begun, under way, or done; visitors with the same plan share it."""
    return Measurement(plan, *_measuring, partial(turns.turn, "measure", quietly))


@kept
def windows(source: Source, mask: Mask) -> tuple[WindowFit, ...]:
    """The window closest to every head of every layer."""
    seen = read(source)
    n = len(seen.tokens.ids)
    steps = [seen.layer(i, allowed=mask.allowed(n, n)) for i in range(seen.n_layers)]
    return fit_layers([each.weights for each in steps], [each.masked.isfinite().any(0) for each in steps])
