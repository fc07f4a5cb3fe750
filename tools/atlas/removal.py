"""Ablation scores of a decoder: its next-token loss without each single head, sentence by sentence."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from viz.core.analysis.atlas.summary import summarize
from viz.models.atlas.corpus import LONGEST
from viz.models.atlas.make import Atlas
from viz.models.interventions import patched_streams
from viz.models.layout import LoadedModel
from viz.models.stream import has_words, normalize, read_stream, unembed
from viz.models.tokens import read_text

LINES = 8
"""Sentences that heads are removed on, evenly spaced over the corpus: each is a run for every head."""


def removal_lines(n_lines: int) -> list[int]:
    """The numbers of these sentences.

    Example:
        >>> removal_lines(24)[:3], removal_lines(2)
        ([0, 3, 6], [0, 1])
    """
    count = min(LINES, n_lines)
    return [i * n_lines // count for i in range(count)]


def score_removal(model: LoadedModel, lines: Sequence[str]) -> dict[str, Tensor]:
    """Increase of the loss, in nats a token, when a head writes nothing: {"removal": (S, L, H)}.

    NaN for lines that were not read so; nothing for a model without words.
    """
    if not has_words(model):
        return {}
    numbers = removal_lines(len(lines))
    increases = {number: _of_line(model, lines[number]) for number in numbers}
    nothing = torch.full_like(increases[numbers[0]], torch.nan)
    return {"removal": torch.stack([increases.get(number, nothing) for number in range(len(lines))])}


def _of_line(model: LoadedModel, line: str) -> Tensor:
    """One sentence, (L, H)."""
    tokens = read_text(model.tokenizer, line, min(LONGEST, model.max_tokens))
    ids, reading = torch.tensor(tokens.ids), read_stream(model, tokens)
    baseline = _loss(model, reading.states[-1], ids)
    nothing = torch.zeros_like(reading.heads[0])
    layers = []
    for layer in range(len(reading.heads)):
        streams = patched_streams(model, reading, nothing, layer)
        layers.append(torch.stack([_loss(model, stream, ids) for stream in streams]) - baseline)
    return torch.stack(layers)


def _loss(model: LoadedModel, stream: Tensor, ids: Tensor) -> Tensor:
    """The mean of -ln p(next token), in nats."""
    logits = unembed(model, normalize(model, stream[:-1]))
    return torch.nn.functional.cross_entropy(logits, ids[1:])


def with_removal(atlas: Atlas, model: LoadedModel) -> Atlas:
    """The same atlas with what a decoder loses without each head, which takes longer than all the rest."""
    scores = dict(atlas.scores)
    for name, values in score_removal(model, atlas.lines).items():
        # Neither an even spread nor random weights have a loss to lose.
        nothing = torch.full_like(values, torch.nan)
        scores[name] = summarize(name, values, nothing[:, 0, 0], [nothing])
    return replace(atlas, scores=scores)
