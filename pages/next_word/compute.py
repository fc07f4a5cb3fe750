"""What the page computes and keeps: small results of a decoder's run, never a row of logits for each token."""

from dataclasses import dataclass

import torch
from torch import Tensor

from viz import limits
from viz.core.analysis.attribution import Attribution, attribute
from viz.core.analysis.lens import chances, logit_lens, rank, surprise
from viz.core.analysis.map_statistics import on_offset
from viz.core.variants.kv_sharing import induction
from viz.frame.compute import kept, model, read
from viz.frame.specs import Source
from viz.models.capture import Head, capture_tokens
from viz.models.generation import continue_text
from viz.models.interventions import patch_layer, without
from viz.models.positions import first
from viz.models.stream import (
    Reading,
    column,
    final_norm,
    logits_of,
    normalize,
    read_stream,
    unembed,
    written,
)
from viz.models.tokens import Tokens, labels

BEST = 5
"""Words shown after each token."""
CHANGED = 10
"""Words whose chances are compared before and after."""
REPEATED, SEED = 24, 0
"""Random tokens, which are repeated once, that heads are scored on, and their seed."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """After each token: the ``best`` words (T, n), their ``chances``, and the ``surprise`` at the next one, in bits."""

    best: Tensor
    chances: Tensor
    surprise: Tensor


@dataclass(frozen=True, kw_only=True)
class Layers:
    """In front of the first block and behind each, at every token, (L + 1, T): the best word, and the one followed.

    ``best`` and its ``chance``, the followed word's ``rank`` (1 is the best) and its ``followed`` chance.
    """

    best: Tensor
    chance: Tensor
    rank: Tensor
    followed: Tensor


@dataclass(frozen=True, kw_only=True)
class Changed:
    """Chances at one token and the surprise at each token, before and after heads were switched off."""

    words: Tensor
    before: Tensor
    after: Tensor
    surprise_before: Tensor
    surprise_after: Tensor


def tokens_of(source: Source) -> Tokens:
    """The first tokens of a text."""
    return first(read(source).tokens, limits.NEXT_TOKENS)


@kept
def expected(source: Source) -> Expected:
    """What comes next after every token, and how surprised the model was."""
    ids = tokens_of(source).ids
    logits = logits_of(model(source.model), ids)
    best = chances(logits).topk(min(BEST, logits.shape[-1]))
    return Expected(best=best.indices, chances=best.values, surprise=surprise(logits, torch.tensor(ids)))


@kept
def chances_of(source: Source, word: int) -> Tensor:
    """How likely one word is after every token, (T,)."""
    return chances(logits_of(model(source.model), tokens_of(source).ids))[:, word].clone()


@kept
def stream(source: Source) -> Reading:
    """The residual stream of a text.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    return read_stream(model(source.model), tokens_of(source))


def word_scores(source: Source, final: Tensor, words: tuple[int, ...]) -> Tensor:
    """The logits of some words, (n, words), from the last stream (n, d_model): the model's own norm, their columns."""
    loaded = model(source.model)
    columns, biases = zip(*(column(loaded, word) for word in words), strict=True)
    with torch.inference_mode():
        return normalize(loaded, final) @ torch.stack(columns, -1) + torch.tensor(biases)


@kept
def by_layer(source: Source, word: int) -> Layers:
    """What each layer's stream would say, read by the final norm and the vocabulary head."""
    loaded, rows = model(source.model), []
    for state in stream(source).states:
        logits = logit_lens(state, lambda x: normalize(loaded, x), lambda x: unembed(loaded, x))
        likely = chances(logits)
        best = likely.max(-1)
        followed = likely[:, word].clone()  # a view would hold all words' chances: 10 MB, thirty times
        rows.append((best.indices, best.values, rank(logits, word), followed))
    return Layers(
        **{
            name: torch.stack(values)
            for name, values in zip(("best", "chance", "rank", "followed"), zip(*rows, strict=True), strict=True)
        }
    )


@kept
def parts(source: Source, at: int, word: int, against: int) -> Attribution:
    """The logit of a word, or its difference to another one (-1: to none), as a sum over all parts."""
    loaded = model(source.model)
    read, bias = column(loaded, word)
    if against >= 0:
        other, other_bias = column(loaded, against)
        read, bias = read - other, bias - other_bias
    weights, centred = final_norm(loaded)
    with torch.inference_mode():
        return attribute(written(loaded, stream(source), at), read, weights, centred=centred, bias=bias)


def random_tokens(model_id: str) -> Tokens:
    """Random tokens, then the same again: only who looks back can know the second half."""
    tokenizer, special = model(model_id).tokenizer, set(model(model_id).tokenizer.all_special_ids)
    known = [i for i in range(len(tokenizer)) if i not in special]
    n = min(REPEATED, model(model_id).max_tokens // 2)
    drawn = torch.randint(len(known), (n,), generator=torch.Generator().manual_seed(SEED)).tolist()
    ids = tuple(known[i] for i in drawn) * 2
    return Tokens(
        ids=ids, labels=labels(tokenizer, list(ids)), special=(False,) * len(ids), words=tuple(range(len(ids)))
    )


@kept
def head_scores(model_id: str) -> dict[str, Tensor]:
    """Each head's mean weight on the previous token, and on what came next last time: (L, H) each.

    Measured on random tokens that are repeated once, the same for every text.
    """
    seen = capture_tokens(model(model_id), random_tokens(model_id))
    ids = torch.tensor(seen.tokens.ids)
    maps = torch.stack([seen.layer(i).weights for i in range(seen.n_layers)])
    copying = torch.stack([induction(weights, ids) for weights in maps])
    return {"previous": on_offset(maps, -1).mean(-1), "induction": copying}


@kept
def changed(source: Source, heads: frozenset[Head], mean: bool, at: int) -> Changed:
    """What becomes of the chances when heads are switched off; the most changed words come first."""
    loaded, ids = model(source.model), tokens_of(source).ids
    before = logits_of(loaded, ids)
    after = logits_of(loaded, ids, without(stream(source), heads, mean=mean)) if heads else before
    likely = chances(before[at]), chances(after[at])
    moved = (likely[1] - likely[0]).abs()
    words = (moved if heads else likely[0]).topk(min(CHANGED, len(moved))).indices
    return Changed(
        words=words,
        before=likely[0][words],
        after=likely[1][words],
        surprise_before=surprise(before, torch.tensor(ids)),
        surprise_after=surprise(after, torch.tensor(ids)),
    )


@kept
def swapped(source: Source, other: Source, layer: int, at: int) -> Tensor:
    """The last stream at one token, (H, d_model), when one head of a layer after the other is the other text's."""
    return patch_layer(model(source.model), stream(source), stream(other), layer, at)


@kept
def continued(source: Source, steps: int, temperature: float, seed: int) -> tuple[int, ...]:
    """The tokens that the model writes on, in pieces: what was written before is not written again."""
    ids = tokens_of(source).ids
    begun = (
        continued(source, steps - limits.WRITTEN_AT_ONCE, temperature, seed) if steps > limits.WRITTEN_AT_ONCE else ()
    )
    if len(begun) < steps - limits.WRITTEN_AT_ONCE:  # it came to its end
        return begun
    more = min(steps, limits.WRITTEN_AT_ONCE)
    return begun + continue_text(model(source.model), ids + begun, steps=more, temperature=temperature, seed=seed)
