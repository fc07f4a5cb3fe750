"""Cache keys that pages pass around: small frozen values without tensors and without a session."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from viz.core import masks
from viz.frame.mask_code import from_code
from viz.models import registry

MASKS = ("own", "causal", "padding", "both", "window", "dilated", "prefix", "blocks", "painted")
"""Codes of the masks a user may lay over every head; "own" adds none to what the source has."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """The source of the numbers; equal sources give equal numbers.

    ``kind`` is "words" (seeded embeddings and heads), "embeddings" (a model's embedding table, seeded heads) or
    "model" (a model's own heads). With a ``target``, that text asks and ``text`` answers.
    """

    kind: str
    text: str
    model: str = ""
    d_model: int = 0
    n_heads: int = 0
    n_kv_heads: int = 0
    seed: int = 0
    target: str = ""

    @property
    def heads_of(self) -> str:
        """The model whose own heads these are; empty for seeded heads."""
        return self.model if self.kind == "model" else ""

    @property
    def channel(self) -> str:
        """The head grid of these numbers: "grid" for one text, "cross" for two."""
        return "cross" if self.target else "grid"


@dataclass(frozen=True, kw_only=True)
class Mask:
    """A mask for every head.

    ``width`` is the reach of a window, how many a dilated one has on each side, or a prefix's or block's length;
    ``gap`` is from one position of a dilated window to the next. ``pad`` tokens at the end of the text (or its
    beginning, if ``pad_left``) count as padding. ``painted`` is a square mask as :func:`viz.frame.mask_code.to_code`
    writes it, laid over the first tokens; the others stay open.
    """

    kind: str = "own"
    width: int = 2
    gap: int = 2
    pad: int = 3
    pad_left: bool = False
    painted: str = ""

    def allowed(self, n_queries: int, n_keys: int) -> Tensor | None:
        """True where a query may look; None where this adds nothing."""
        sizes = n_queries, n_keys
        rules: dict[str, Callable[[], Tensor | None]] = {
            "own": lambda: None,
            "causal": lambda: masks.causal(*sizes),
            "padding": lambda: self._real_keys(*sizes),
            "both": lambda: masks.combine(masks.causal(*sizes), self._real_keys(*sizes)),
            "window": lambda: masks.window(*sizes, self.width),
            "dilated": lambda: masks.dilated(*sizes, self.width, self.gap),
            "prefix": lambda: masks.prefix(*sizes, min(self.width, n_keys)),
            "blocks": lambda: masks.blocks(*sizes, max(1, self.width)),
            "painted": lambda: self._around_painted(*sizes) if self.painted else None,
        }
        return rules[self.kind]()

    def _real_keys(self, n_queries: int, n_keys: int) -> Tensor:
        real = masks.padding([max(0, n_keys - self.pad)], n_keys)[0, 0]
        return (real.flip(-1) if self.pad_left else real).expand(n_queries, -1)

    def _around_painted(self, n_queries: int, n_keys: int) -> Tensor:
        is_open, square = torch.ones(n_queries, n_keys, dtype=torch.bool), from_code(self.painted)
        square = square[:n_queries, :n_keys]
        is_open[: square.shape[0], : square.shape[1]] = square
        return is_open


@dataclass(frozen=True, kw_only=True)
class View:
    """View options of maps: ``what`` is "weights" or "scores"; pieces merged into words; special tokens hidden."""

    what: str = "weights"
    merge: bool = False
    hide: bool = False


@dataclass(frozen=True, kw_only=True)
class Placing:
    """Positions and order of a text's tokens: place i holds token ``order[i]``.

    ``code`` is one of :func:`viz.core.variants.encodings.encodings`.
    """

    code: str = "none"
    base: float = 10_000.0
    alpha: float = 0.5
    delta: float = -1.0
    order: tuple[int, ...] = ()


@cache
def _folders() -> tuple[registry.Entry, ...]:
    """Model folders named on the command line: ``streamlit run app.py -- --model PATH``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", action="append", type=Path, default=[])
    folders: list[Path] = parser.parse_known_args(sys.argv[1:])[0].model
    return registry.entries_of(folders)


@cache
def local_entries() -> tuple[registry.Entry, ...]:
    """Those of the folders that hold a model of text, as far as they say."""
    return tuple(entry for entry in _folders() if entry not in local_picture_entries())


@cache
def local_picture_entries() -> tuple[registry.Entry, ...]:
    """Those of the folders that hold a model of pictures."""
    return tuple(entry for entry in _folders() if entry.path is not None and registry.reads_pictures(entry.path))


def picture_entries() -> tuple[registry.Entry, ...]:
    """Every model that reads pictures; of two with one name the folder's, which come first."""
    return *local_picture_entries(), *registry.picture_entries()
