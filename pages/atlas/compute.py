"""Cached computations of the page: an atlas in chunks, with progress and a way to stop."""

from functools import partial

from torch import Tensor

from viz import limits
from viz.frame.compute import model, results
from viz.frame.queue_notice import until
from viz.models.atlas import make
from viz.models.atlas.copying import sample_words
from viz.models.atlas.corpus import LONGEST, repeated_tokens
from viz.models.atlas.file import shipped
from viz.models.atlas.make import CHUNK, Atlas
from viz.models.atlas.random_weights import SEEDS
from viz.models.tokens import read_text
from viz.scheduler.cache import CachedFunction, Key

cached = partial(CachedFunction, store=results, kind="atlas", wait=until)


def on_file(model_id: str, corpus: str) -> Atlas | None:
    """The atlas that ships with the app, if there is one of this model and corpus."""
    return shipped(model(model_id), corpus)


@cached
def chunk(model_id: str, lines: tuple[str, ...]) -> dict[str, Tensor]:
    """The scores of a few sentences."""
    return make.score_lines(model(model_id), lines)


@cached
def scores_without_text(model_id: str) -> dict[str, Tensor]:
    """The scores that need no sentence."""
    return make.score_without_text(model(model_id))


def _kind(key: Key) -> str:
    """Return the cache kind: a large model with random weights is counted apart."""
    return "atlas_by_chance" if 4 * model(str(key[1])).entry.parameters > limits.PASS_BYTES / 2 else "atlas"


@partial(CachedFunction, store=results, kind=_kind, wait=until)
def by_chance(model_id: str, lines: tuple[str, ...], seed: int) -> dict[str, Tensor]:
    """The scores of a model of random weights, on some of the lines."""
    return make.score_by_chance(model(model_id), lines, seed)


@cached
def assembled(model_id: str, corpus: str, lines: tuple[str, ...], n_chunks: int) -> Atlas:
    """The atlas of the first chunks."""
    pieces = chunks_of(lines)[:n_chunks]
    values = [chunk(model_id, piece) for piece in pieces]
    random = {seed: by_chance(model_id, spaced(lines), seed) for seed in SEEDS}
    return make.assemble(model(model_id), corpus, lines, values, scores_without_text(model_id), random)


def spaced(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines that the model of random weights reads."""
    return tuple(make.spaced(lines))


@cached
def n_cut(model_id: str, lines: tuple[str, ...]) -> int:
    """The number of lines longer than the tokens read of them."""
    tokenizer = model(model_id).tokenizer
    return sum(read_text(tokenizer, line, LONGEST).n_excess > 0 for line in lines)


def chunks_of(lines: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Split lines into chunks of one computation."""
    return [lines[first : first + CHUNK] for first in range(0, len(lines), CHUNK)]


@cached
def random_ids(model_id: str, number: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """One of the texts of random tokens, and which of its tokens are special."""
    text = repeated_tokens(model(model_id))[number]
    return tuple(text.ids.tolist()), tuple(text.special.tolist())


def word_ids(model_id: str) -> tuple[int, ...]:
    """The words that copying is measured on."""
    return tuple(sample_words(model(model_id)).tolist())
