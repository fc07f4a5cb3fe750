"""Cached computations that all pages share: models, captures of texts, layers of heads.

Keys are frozen specs of small values, never tensors. Values are shared by all users and must not be changed. They are
computed in their turn (:mod:`viz.scheduler.fair_queue`), once for all who ask, and kept in one memory that is bounded
in bytes (:mod:`viz.scheduler.cache`).
"""

import gc
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import ParamSpec, TypeVar

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from viz import limits
from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.spec import AttentionSpec
from viz.errors import ModelError
from viz.frame import queue_notice
from viz.frame.specs import Mask, Source, local_entries
from viz.imports import importing
from viz.models import registry
from viz.models.capture import Capture, Head, capture, seeded
from viz.models.cross import has_cross, pair, trained_cross
from viz.models.layout import LoadedModel
from viz.models.tokens import Tokens, read_text, seeded_embeddings, split_words
from viz.scheduler.cache import CachedFunction, Key

P = ParamSpec("P")
R = TypeVar("R")
DEFAULT_MODEL = registry.entries()[0].id
until, results, models = queue_notice.until, queue_notice.results, queue_notice.models


@st.cache_resource(max_entries=1, show_spinner=False)
def warm() -> bool:
    """Once for each process: torch's threads, the hub, and what the imports left kept out of every later collection."""
    torch.set_num_threads(limits.TORCH_THREADS)
    registry.hub()
    registry.index()
    # A run of a page makes tens of thousands of objects, nearly all of them without cycles.
    gc.set_threshold(7_000)
    # Imports leave hardly any garbage: to look for it would take 140 ms of the first user's time.
    gc.freeze()
    return True


def cached(function: Callable[P, R]) -> CachedFunction[P, R]:
    """Compute in turn, once for all who ask, and keep."""
    return CachedFunction(function, results, kind_of, until)


def kind_of(key: Key) -> str:
    """Return the job kind: "sentence" for quick jobs, "text" for slow ones."""
    return "text" if len(str(key).encode()) > limits.SENTENCE_BYTES else "sentence"


@partial(CachedFunction, store=models, kind="load", wait=until)
def model(model_id: str) -> LoadedModel:
    """A loaded model, shared by all users."""
    with importing():
        from viz.models.load import load
    loaded_model = load(model_id, extra=local_entries())
    _keep_library_out()
    return loaded_model


@cache
def _keep_library_out() -> None:
    """Once, when the first model has brought its library: what is alive at a later load is garbage one day."""
    gc.collect()
    gc.freeze()


def bare(source: Source) -> tuple[Tokens, Tensor]:
    """A text's tokens, and their vectors (T, d_model) before any position is added."""
    if source.kind == "words":
        tokens = split_words(source.text, limits.TOKENS)
        return tokens, seeded_embeddings(tokens.ids, source.d_model, source.seed)
    loaded_model = model(source.model)
    tokens = read_text(loaded_model.tokenizer, source.text, min(limits.TOKENS, loaded_model.max_tokens))
    return tokens, loaded_model.embeddings(list(tokens.ids))


@cached
def read(source: Source, heads_off: frozenset[Head] = frozenset()) -> Capture:
    """A text as seen from a source; with a target, that text asks and this one answers.

    Of a text too long for whole blocks a model's states are not kept: nothing else asks for them (35 MB of 130).
    """
    if source.target:
        alone = replace(source, target="")
        answers = read(alone)
        if has_cross(answers):
            return trained_cross(_run(source))
        if answers.calls[0].maps_only:
            raise ModelError("maps", model=source.model)
        return pair(read(replace(alone, text=source.target)), answers)
    return _run(source, heads_off)


def _run(source: Source, heads_off: frozenset[Head] = frozenset()) -> Capture:
    if source.kind == "model":
        loaded_model, target = model(source.model), source.target or None
        result = capture(loaded_model, source.text, target=target, max_tokens=limits.TOKENS, heads_off=heads_off)
        return result if len(result.tokens.ids) <= stack_tokens(source) else replace(result, states={})
    tokens, vectors = bare(source)
    return on_seeded_heads(source, tokens, vectors, heads_off)


def stack_tokens(source: Source) -> int:
    """Of a text that goes through a source's whole blocks: fewer through more layers."""
    n_layers = model(source.model).n_layers if source.kind == "model" else 1
    return min(limits.STACK_TOKENS, limits.STACK_ROWS // n_layers)


def on_seeded_heads(source: Source, tokens: Tokens, x: Tensor, heads_off: frozenset[Head] = frozenset()) -> Capture:
    """Seeded heads on any vectors of a source's tokens, (T, d_model)."""
    if source.kind == "embeddings":
        # Every model normalises its embeddings first; without that, seeded heads would see rows of length near 0.
        x = layer_norm(x, x.shape[1:])
    spec = AttentionSpec(d_model=x.shape[1], n_heads=source.n_heads, n_kv_heads=source.n_kv_heads)
    return seeded(tokens, x, HeadWeights.random(spec, seed=source.seed), heads_off)


@cached
def trace(source: Source, layer: int, mask: Mask) -> MultiHeadTrace:
    """Every intermediate of one layer."""
    text_capture = read(source)
    n_queries, n_keys = text_capture.calls[layer].q.shape[1], text_capture.calls[layer].k.shape[1]
    with torch.inference_mode():
        return text_capture.multi_head(layer, allowed=mask.allowed(n_queries, n_keys))
