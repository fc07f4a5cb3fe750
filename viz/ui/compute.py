"""Every cache of the project. Keys are frozen specs of small values, never tensors; every cache is bounded.

What a cache returns is shared by all visitors and must not be changed.
"""

import argparse
import gc
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from viz.core import masks
from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.spec import AttentionSpec
from viz.models import registry
from viz.models.capture import Capture, Head, capture, seeded
from viz.models.layout import LoadedModel
from viz.models.load import load
from viz.models.tokens import read_text, seeded_embeddings, split_words
from viz.ui import limits

DEFAULT_MODEL = registry.entries()[0].id


MASKS = ("own", "causal", "window", "prefix")
"""Codes of the masks a visitor may lay over every head; "own" adds none to what the source has."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the numbers come from: all of it, so that equal sources give equal numbers.

    ``kind`` is "words" (seeded embeddings and heads), "embeddings" (a model's embedding table, seeded heads) or
    "model" (a model's own heads).
    """

    kind: str
    text: str
    model: str = ""
    d_model: int = 0
    n_heads: int = 0
    n_kv_heads: int = 0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Mask:
    """Which mask is laid over every head; ``width`` is the window's reach or the prefix's length, in tokens."""

    kind: str = "own"
    width: int = 2

    def allowed(self, n_queries: int, n_keys: int) -> Tensor | None:
        """True where a query may look; None where this adds nothing."""
        if self.kind == "causal":
            return masks.causal(n_queries, n_keys)
        if self.kind == "window":
            return masks.window(n_queries, n_keys, self.width)
        return masks.prefix(n_queries, n_keys, min(self.width, n_keys)) if self.kind == "prefix" else None


@cache
def local_entries() -> tuple[registry.Entry, ...]:
    """Folders named on the command line by whoever runs the server: ``streamlit run app.py -- --model PATH``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", action="append", type=Path, default=[])
    folders: list[Path] = parser.parse_known_args(sys.argv[1:])[0].model
    return tuple(registry.Entry(id=folder.resolve().name, path=folder.resolve()) for folder in folders)


@st.cache_resource(max_entries=1, show_spinner=False)
def warm() -> bool:
    """Once for each process: the hub looked up, and what the imports left kept out of every later collection.

    Streamlit collects garbage after every run; with torch and transformers imported that alone takes 200 ms.
    """
    registry.hub()
    gc.collect()
    gc.freeze()
    return True


@st.cache_resource(max_entries=1, show_spinner=False)
def _gate() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(limits.FORWARD_PASSES)


@st.cache_resource(max_entries=limits.MODELS_KEPT, show_spinner=False)
def model(model_id: str) -> LoadedModel:
    """A loaded model, shared by all visitors."""
    loaded = load(model_id, extra=local_entries())
    gc.collect()
    gc.freeze()
    return loaded


@st.cache_resource(max_entries=limits.CAPTURES_KEPT, show_spinner=False)
def read(source: Source, heads_off: frozenset[Head] = frozenset()) -> Capture:
    """A text as seen from a source."""
    if source.kind == "model":
        loaded = model(source.model)
        with _gate():
            return capture(loaded, source.text, max_tokens=limits.TOKENS, heads_off=heads_off)
    if source.kind == "embeddings":
        loaded = model(source.model)
        tokens = read_text(loaded.tokenizer, source.text, min(limits.TOKENS, loaded.max_tokens))
        # Every model normalises its embeddings first; without that, seeded heads would see rows of length near 0.
        x = layer_norm(loaded.embeddings(list(tokens.ids)), (loaded.model.config.hidden_size,))
    else:
        tokens = split_words(source.text, limits.TOKENS)
        x = seeded_embeddings(tokens.ids, source.d_model, source.seed)
    spec = AttentionSpec(d_model=x.shape[1], n_heads=source.n_heads, n_kv_heads=source.n_kv_heads)
    return seeded(tokens, x, HeadWeights.random(spec, seed=source.seed))


@st.cache_resource(max_entries=limits.TRACES_KEPT, show_spinner=False)
def trace(source: Source, layer: int, mask: Mask, heads_off: frozenset[Head] = frozenset()) -> MultiHeadTrace:
    """Every intermediate of one layer."""
    seen = read(source, heads_off)
    n_queries, n_keys = seen.calls[layer].q.shape[1], seen.calls[layer].k.shape[1]
    with torch.inference_mode():
        return seen.multi_head(layer, allowed=mask.allowed(n_queries, n_keys))
