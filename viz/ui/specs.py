"""What caches are keyed by, and pages pass around: small frozen values, no tensors and no visitor's session."""

import argparse
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from viz.core import masks, measures
from viz.core.attention import AttentionTrace
from viz.models import registry
from viz.models.tokens import Tokens, word_labels

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

    @property
    def heads_of(self) -> str:
        """The model whose own heads these are; empty for seeded heads."""
        return self.model if self.kind == "model" else ""


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


@dataclass(frozen=True, kw_only=True)
class View:
    """How maps are shown: ``what`` is "weights" or "scores"; pieces merged into words; special tokens hidden."""

    what: str = "weights"
    merge: bool = False
    hide: bool = False


@dataclass(frozen=True, kw_only=True)
class Placing:
    """Which positions a text's tokens are given, and in which order they stand: place i holds token ``order[i]``.

    ``code`` is one of :func:`viz.core.encodings.encodings`.
    """

    code: str = "none"
    base: float = 10_000.0
    alpha: float = 0.5
    delta: float = -1.0
    order: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The maps of one layer as a view shows them: (H, rows, columns), and a label for each row and column."""

    values: Tensor
    labels: tuple[str, ...]


def look(steps: AttentionTrace, tokens: Tokens, view: View) -> Shown:
    """The maps of a layer as a view shows them."""
    values, labels = (steps.weights if view.what == "weights" else steps.masked), tokens.labels
    words, special = torch.tensor(tokens.words), torch.tensor(tokens.special)
    if view.merge:
        merge = measures.merge_words if view.what == "weights" else measures.mean_words
        values = merge(values, words, words)
        labels = word_labels(tokens)
        special = torch.zeros(len(labels)).index_add(0, words, special.float()) > 0
    if view.hide:
        if view.what == "weights":
            values = measures.hide(values, ~special, ~special)
        else:
            values = values[:, ~special][..., ~special]
        labels = tuple(label for label, hidden in zip(labels, special.tolist(), strict=True) if not hidden)
    return Shown(values=values, labels=labels)


@cache
def local_entries() -> tuple[registry.Entry, ...]:
    """Folders named on the command line by whoever runs the server: ``streamlit run app.py -- --model PATH``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", action="append", type=Path, default=[])
    folders: list[Path] = parser.parse_known_args(sys.argv[1:])[0].model
    return tuple(registry.Entry(id=folder.resolve().name, path=folder.resolve()) for folder in folders)
