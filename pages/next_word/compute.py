"""Cached results of the page: small results of a decoder's run, never a row of logits for each token."""

from dataclasses import dataclass

import torch
from torch import Tensor

from viz import limits
from viz.core.analysis.attribution import Attribution, attribute
from viz.core.analysis.lens import chances, logit_lens, rank, surprise
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.frame.compute import cached, model, read
from viz.frame.specs import Source
from viz.models.capture import Head, capture_tokens
from viz.models.generation import continue_text
from viz.models.interventions import patch_layer, without
from viz.models.positions import first
from viz.models.stream import (
    Reading,
    check_writable,
    column,
    final_norm,
    logits_of,
    normalize,
    read_stream,
    split_stream,
    unembed,
)
from viz.models.tokens import Tokens, labels

BEST = 5
"""Number of best words after each token."""
N_CHANGES = 10
"""Number of words whose probabilities are compared before and after."""
REPEATED, SEED = 24, 0
"""Number of random tokens, repeated once, on which heads are scored, and their seed."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """After each token: the ``best`` words (T, n), their ``chances``, and the ``surprise`` at the next one, in bits."""

    best: Tensor
    chances: Tensor
    surprise: Tensor


@dataclass(frozen=True, kw_only=True)
class Layers:
    """In front of the first block and behind each, at every token, (L + 1, T): the best word, and the followed one.

    ``best`` and its ``chance``, the followed word's ``rank`` (1 is the best) and its ``followed`` chance.
    """

    best: Tensor
    chance: Tensor
    rank: Tensor
    followed: Tensor


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Probabilities at one token and the surprise at each token, before and after heads were switched off."""

    words: Tensor
    before: Tensor
    after: Tensor
    surprise_before: Tensor
    surprise_after: Tensor


def tokens_of(source: Source) -> Tokens:
    """Return the first tokens of a text.

    Raises:
        ModelError: "unwritable", if the model cannot write one of them, so that it has no surprise.
    """
    tokens = first(read(source).tokens, limits.NEXT_TOKENS)
    check_writable(model(source.model), tokens.ids[1:])
    return tokens


def _logits(source: Source) -> Tensor:
    """Return the logits after each token, (T, V), by the last states of the pass that has been made of the text."""
    loaded_model, ids = model(source.model), tokens_of(source).ids
    states = read(source).states.get("decoder")
    return unembed(loaded_model, states[-1][: len(ids)]) if states else logits_of(loaded_model, ids)


@cached
def expected(source: Source) -> Expected:
    """Return the predictions after every token, and the model's surprise."""
    logits = _logits(source)
    best = chances(logits).topk(min(BEST, logits.shape[-1]))
    return Expected(
        best=best.indices,
        chances=best.values,
        surprise=surprise(logits, torch.tensor(tokens_of(source).ids)),
    )


@cached
def chances_of(source: Source, word: int) -> Tensor:
    """Return the probability of one word after every token, (T,)."""
    return chances(_logits(source))[:, word].clone()


@cached
def stream(source: Source) -> Reading:
    """The residual stream of a text.

    Raises:
        ModelError: "block", if the structure of this model's blocks is unknown.
    """
    return read_stream(model(source.model), tokens_of(source))


def word_scores(source: Source, final: Tensor, words: tuple[int, ...]) -> Tensor:
    """Return logits of some words, (n, words), of the last stream (n, d_model) by the final norm and their columns."""
    loaded_model = model(source.model)
    columns, biases = zip(*(column(loaded_model, word) for word in words), strict=True)
    with torch.inference_mode():
        return normalize(loaded_model, final) @ torch.stack(columns, -1) + torch.tensor(biases)


@cached
def by_layer(source: Source, word: int) -> Layers:
    """Return each layer's predictions, read by the final norm and the vocabulary head."""
    loaded_model, rows = model(source.model), []
    for state in stream(source).states:
        logits = logit_lens(state, lambda x: normalize(loaded_model, x), lambda x: unembed(loaded_model, x))
        likely = chances(logits)
        best = likely.max(-1)
        # A view would hold all words' probabilities: 10 MB, thirty times.
        word_chance = likely[:, word].clone()
        rows.append((best.indices, best.values, rank(logits, word), word_chance))
    return Layers(
        **{
            name: torch.stack(values)
            for name, values in zip(("best", "chance", "rank", "followed"), zip(*rows, strict=True), strict=True)
        }
    )


@cached
def parts(source: Source, at: int, word: int, against: int) -> Attribution:
    """Return the logit of a word, or its difference to another one (-1: to none), as a sum over all parts."""
    loaded_model = model(source.model)
    read, bias = column(loaded_model, word)
    if against >= 0:
        other_column, other_bias = column(loaded_model, against)
        read, bias = read - other_column, bias - other_bias
    weights, centred = final_norm(loaded_model)
    with torch.inference_mode():
        return attribute(split_stream(loaded_model, stream(source), at), read, weights, centred=centred, bias=bias)


def random_tokens(model_id: str) -> Tokens:
    """Return random tokens, then the same again: the second half is predictable only by looking back."""
    tokenizer, special = model(model_id).tokenizer, set(model(model_id).tokenizer.all_special_ids)
    plain_ids = [i for i in range(len(tokenizer)) if i not in special]
    n = min(REPEATED, model(model_id).max_tokens // 2)
    indices = torch.randint(len(plain_ids), (n,), generator=torch.Generator().manual_seed(SEED)).tolist()
    ids = tuple(plain_ids[i] for i in indices) * 2
    return Tokens(
        ids=ids, labels=labels(tokenizer, list(ids)), special=(False,) * len(ids), words=tuple(range(len(ids)))
    )


@cached
def head_scores(model_id: str) -> dict[str, Tensor]:
    """Return each head's mean weight on the previous token, and on the token after an earlier mention: (L, H) each.

    Measured on random tokens that are repeated once, the same for every text.
    """
    capture = capture_tokens(model(model_id), random_tokens(model_id))
    ids = torch.tensor(capture.tokens.ids)
    maps = torch.stack([capture.layer(i).weights for i in range(capture.n_layers)])
    copying = torch.stack([induction(weights, ids) for weights in maps])
    return {"previous": weight_at_offset(maps, -1).mean(-1), "induction": copying}


@cached
def changes_without(source: Source, heads: frozenset[Head], mean: bool, at: int) -> Changes:
    """Return the probabilities with heads switched off; the words that change most come first."""
    loaded_model, ids = model(source.model), tokens_of(source).ids
    before = logits_of(loaded_model, ids)
    after = logits_of(loaded_model, ids, without(stream(source), heads, mean=mean)) if heads else before
    likely = chances(before[at]), chances(after[at])
    differences = (likely[1] - likely[0]).abs()
    words = (differences if heads else likely[0]).topk(min(N_CHANGES, len(differences))).indices
    return Changes(
        words=words,
        before=likely[0][words],
        after=likely[1][words],
        surprise_before=surprise(before, torch.tensor(ids)),
        surprise_after=surprise(after, torch.tensor(ids)),
    )


@cached
def swap_heads(source: Source, second: Source, layer: int, at: int) -> Tensor:
    """Return the last stream at one token, (H, d_model), with each head of a layer swapped in turn."""
    return patch_layer(model(source.model), stream(source), stream(second), layer, at)


@cached
def continued(source: Source, steps: int, temperature: float, seed: int) -> tuple[int, ...]:
    """Return the tokens of the continuation in resumable pieces: earlier tokens are not generated again."""
    ids = tokens_of(source).ids
    earlier = (
        continued(source, steps - limits.WRITTEN_AT_ONCE, temperature, seed) if steps > limits.WRITTEN_AT_ONCE else ()
    )
    # The text may have ended early.
    if len(earlier) < steps - limits.WRITTEN_AT_ONCE:
        return earlier
    more = min(steps, limits.WRITTEN_AT_ONCE)
    return earlier + continue_text(model(source.model), ids + earlier, steps=more, temperature=temperature, seed=seed)
