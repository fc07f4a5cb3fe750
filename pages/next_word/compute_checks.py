"""Cached references for the page's live checks, each computed in another way."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from pages.next_word import compute
from viz.core.analysis.checks import largest
from viz.core.analysis.lens import logit_lens
from viz.frame.compute import cached, model
from viz.frame.specs import Source
from viz.models.attention_interface import Edit
from viz.models.capture import Head
from viz.models.layout import LoadedModel
from viz.models.stream import Reading, logits_of, normalize, read_stream, through_w_o, uncapped, unembed


def _logits(source: Source) -> Tensor:
    """Return the model's logits after every token, in an uninstrumented pass."""
    return logits_of(model(source.model), compute.tokens_of(source).ids)


@dataclass(frozen=True, kw_only=True)
class OwnPredictions:
    """After each token, of an uninstrumented pass: the likeliest ``words`` and their ``chances``, (T, 2 n) each.

    And the chances of what the page shows, in float64: of its n ``best`` words (T, n), of one ``word`` (T,), and the
    ``surprise`` at the next token (T - 1,), in bits.
    """

    words: Tensor
    chances: Tensor
    best: Tensor
    word: Tensor
    surprise: Tensor


@cached
def own_predictions(source: Source, word: int) -> OwnPredictions:
    """Return the model's own predictions, a row of logits after the other: all in float64 would be 150 MB."""
    best, ids = compute.expected(source).best, compute.tokens_of(source).ids
    rows = []
    for place, logits in enumerate(_logits(source)):
        log_chances = logits.double().log_softmax(-1)
        top = log_chances.exp().topk(min(2 * compute.BEST, len(logits)))
        next_id = ids[min(place + 1, len(ids) - 1)]
        bits = -log_chances[next_id] / math.log(2)
        rows.append((top.indices, top.values, log_chances[best[place]].exp(), log_chances[word].exp(), bits))
    words, chances, of_best, of_word, surprise = map(torch.stack, zip(*rows, strict=True))
    return OwnPredictions(words=words, chances=chances, best=of_best, word=of_word, surprise=surprise[:-1])


def expected_errors(source: Source, word: int) -> tuple[float, float, float]:
    """Return the errors of the best words' probabilities, one word's probabilities and the surprises."""
    expected, reference = compute.expected(source), own_predictions(source, word)
    n = expected.best.shape[1]
    best = torch.stack([reference.chances[:, :n], reference.best]) - expected.chances
    differences = (best, reference.word - compute.chances_of(source, word), reference.surprise - expected.surprise)
    best_error, word_error, surprise_error = (
        float(values.abs().max()) if values.numel() else 0.0 for values in differences
    )
    return best_error, word_error, surprise_error


@cached
def greedy_gap(source: Source, steps: int) -> float:
    """Return the largest gap of a chosen word's logit to the maximum, in one pass without a cache."""
    ids, added = compute.tokens_of(source).ids, compute.continued(source, steps, 0.0, 0)
    if not added:
        return 0.0
    logits = logits_of(model(source.model), ids + added)[len(ids) - 1 : -1]
    chosen_logits = logits.gather(-1, torch.tensor(added)[:, None])[:, 0]
    return float((logits.max(-1).values - chosen_logits).max())


@cached
def lens_errors(source: Source, word: int) -> tuple[float, float, float]:
    """Compare the last layer's lens to the model's logits, relative to the largest, and its probabilities and rank."""
    loaded_model, layers, logits = model(source.model), compute.by_layer(source, word), _logits(source)
    last = compute.stream(source).states[-1]
    lens = logit_lens(last, lambda x: normalize(loaded_model, x), lambda x: unembed(loaded_model, x))
    likely = logits.double().softmax(-1)
    best = torch.stack([likely.amax(-1), likely.gather(-1, layers.best[-1][:, None])[:, 0]])
    low, high = possible_ranks(logits, word)
    rank_error = torch.maximum(low - layers.rank[-1], layers.rank[-1] - high).clamp(min=0)
    logits_error = (lens - logits).abs().max() / largest(logits)
    return float(logits_error), float((layers.chance[-1] - best).abs().max()), float(rank_error.max())


def possible_ranks(logits: Tensor, word: int) -> tuple[Tensor, Tensor]:
    """Return the least and the greatest rank of a word (1 is the best): rounding leaves open which of two is ahead."""
    near = 1e-4 * largest(logits)
    ahead = logits - logits[..., word, None]
    return 1 + (ahead > near).sum(-1), (ahead >= -near).sum(-1)


@cached
def logits_at(source: Source, at: int, words: tuple[int, ...]) -> tuple[float, ...]:
    """Return the model's own logits of some words after one token, before its cap if it has one."""
    return tuple(uncapped(model(source.model), _logits(source)[at, list(words)]).tolist())


def _by_hand(reading: Reading, heads: Iterable[Head], mean: bool) -> dict[int, Edit]:
    """Return edits that switch these heads off, written out here: the kept and the added part of each head's output."""
    by_layer = dict[int, list[int]]()
    for layer, head in sorted(heads):
        by_layer.setdefault(layer, []).append(head)
    edits: dict[int, Edit] = {}
    for layer, numbers in by_layer.items():
        keep = torch.ones(reading.heads.shape[2], 1)
        keep[numbers] = 0.0
        added = reading.heads[layer].mean(0) * (1 - keep) if mean else torch.zeros(1)
        edits[layer] = lambda output, keep=keep, added=added: output * keep + added  # type: ignore[misc]
    return edits


def _w_o_error(loaded_model: LoadedModel, reading: Reading, edits: dict[int, Edit]) -> float:
    """Return the error of the lowest edited layer, whose input is unchanged: its attention's output, against
    the remaining heads through its W_O.
    """
    again, lowest = read_stream(loaded_model, reading.tokens, edits), min(edits)
    change = again.states[lowest + 1] - again.states[lowest] - again.feed_forward[lowest]
    expected = through_w_o(loaded_model, lowest, edits[lowest](reading.heads[lowest]))
    size = max(1.0, float(again.states[lowest + 1].abs().max()))
    return float((change - expected).abs().max()) / size


@cached
def off_errors(source: Source, heads: frozenset[Head], mean: bool, at: int) -> tuple[float, float, float]:
    """Return errors of switched-off heads: probabilities, largest change, and the layer's output."""
    loaded_model, reading, change = (
        model(source.model),
        compute.stream(source),
        compute.changes_without(source, heads, mean, at),
    )
    edits = _by_hand(reading, heads, mean)
    before, after = (
        logits[at].double().softmax(-1)
        for logits in (_logits(source), logits_of(loaded_model, reading.tokens.ids, edits))
    )
    error = max((before[change.words] - change.before).abs().max(), (after[change.words] - change.after).abs().max())
    most = (after - before).abs().max() - (change.after - change.before).abs()[0]
    return float(error), float(most.abs()), _w_o_error(loaded_model, reading, edits) if edits else 0.0


@cached
def swapped_alone(
    source: Source, second: Source, layer: int, head: int, at: int, words: tuple[int, ...]
) -> tuple[float, ...]:
    """Return some words' logits when one head is the other text's, in a whole run of the model."""
    lent = compute.stream(second).heads[layer][:, head]

    def edit(output: Tensor) -> Tensor:
        heads = list(output.unbind(2))
        heads[head] = lent[None]
        return torch.stack(heads, 2)

    logits = logits_of(model(source.model), compute.tokens_of(source).ids, {layer: edit})
    return tuple(uncapped(model(source.model), logits[at, list(words)]).tolist())
