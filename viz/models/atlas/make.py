"""An atlas: the scores of every head of a model over a corpus, put together from computations small enough to stop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from viz.core.analysis.atlas.summary import Score, summarize
from viz.models.atlas.copying import score_copying
from viz.models.atlas.corpus import SEQUENCES, read_lines, repeated_tokens
from viz.models.atlas.passes import score_even, score_repeats, score_texts
from viz.models.atlas.random_weights import SEEDS, random_weights
from viz.models.layout import LoadedModel

CHUNK = 20
"""Lines of one computation: after each the user may stop."""
BY_CHANCE = 24
"""Lines that the model of random weights reads, evenly spaced over the corpus."""

A_HEAD = 0.9e-3
"""Seconds of one core for one head on one text: 0.78 ms of MiniLM, 0.66 of e5, 0.96 of SmolLM2 were measured."""

Values = Mapping[str, Tensor]
"""For each score what it is on every text, (S, L, H)."""


@dataclass(frozen=True, kw_only=True)
class Atlas:
    """Every head's scores over the ``lines`` of a corpus, which is called by its language, or "own".

    ``seeds`` are those of the models of random weights that the scores are compared with. ``made`` is the day it was
    written down; "" if it was computed just now. ``sha256`` and ``packaged`` say of which weights it is.
    """

    model: str
    corpus: str
    lines: tuple[str, ...]
    seeds: tuple[int, ...]
    made: str
    sha256: str
    packaged: bool
    scores: Mapping[str, Score]

    @property
    def size(self) -> tuple[int, int]:
        """Layers and heads."""
        layers, heads = next(iter(self.scores.values())).mean.shape
        return layers, heads


def score_lines(model: LoadedModel, lines: Sequence[str]) -> dict[str, Tensor]:
    """The scores of sentences."""
    return score_texts(model, read_lines(model, lines))


def score_without_text(model: LoadedModel) -> dict[str, Tensor]:
    """The scores that need no sentence: of random tokens that are repeated, and of a decoder's words."""
    return score_repeats(model, repeated_tokens(model)) | score_copying(model)


def score_by_chance(model: LoadedModel, lines: Sequence[str], seed: int) -> dict[str, Tensor]:
    """All of them, of a model of random weights, on some of the lines."""
    random_model = random_weights(model, seed)
    return score_lines(random_model, spaced(lines)) | score_without_text(random_model)


def spaced(lines: Sequence[str]) -> list[str]:
    """Some of the lines, evenly spaced.

    Example:
        >>> len(spaced("abc")), len(spaced("x" * 203)), spaced([str(i) for i in range(48)])[:3]
        (3, 24, ['0', '2', '4'])
    """
    count = min(BY_CHANCE, len(lines))
    return [lines[i * len(lines) // count] for i in range(count)]


def assemble(
    model: LoadedModel,
    corpus: str,
    lines: Sequence[str],
    chunks: Sequence[Values],
    text_free_scores: Values,
    by_chance: Mapping[int, Values],
) -> Atlas:
    """Put an atlas together, of as many lines as the chunks have.

    The scores are those of :func:`score_lines`, so many lines after the other, of :func:`score_without_text`, and of
    :func:`score_by_chance` by the seed.
    """
    values = {name: torch.cat([chunk[name] for chunk in chunks]) for name in chunks[0]}
    read = tuple(lines[: len(next(iter(values.values())))])
    even = score_even(model, read_lines(model, read)) | score_even(model, repeated_tokens(model), repeats=True)
    if "copying" in text_free_scores:
        even["copying"] = torch.full((len(text_free_scores["copying"]),), 0.5)
    scores = {
        name: summarize(name, score_values, even[name], [chance_values[name] for chance_values in by_chance.values()])
        for name, score_values in (values | dict(text_free_scores)).items()
    }
    return Atlas(
        model=model.entry.id,
        corpus=corpus,
        lines=read,
        seeds=tuple(by_chance),
        made="",
        sha256=model.entry.sha256 or "",
        packaged=model.is_packaged,
        scores={name: score for name, score in scores.items() if score.n},
    )


def seconds(n_heads: int, n_lines: int) -> int:
    """Return about how long an atlas of so many heads takes: lines and random tokens, of random models, too.

    Example:
        >>> seconds(72, 203), seconds(72, 1)
        (27, 7)
    """
    return max(1, round(A_HEAD * n_heads * (n_lines + SEQUENCES + len(SEEDS) * (min(BY_CHANCE, n_lines) + SEQUENCES))))


def make(model: LoadedModel, corpus: str, lines: Sequence[str]) -> Atlas:
    """Compute an atlas at once."""
    chunks = [score_lines(model, lines[first : first + CHUNK]) for first in range(0, len(lines), CHUNK)]
    by_chance = {seed: score_by_chance(model, lines, seed) for seed in SEEDS}
    return assemble(model, corpus, lines, chunks, score_without_text(model), by_chance)
