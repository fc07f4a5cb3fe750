"""Cached results: singular values of a head's bilinear form, and the share of each pattern in every head."""

from collections.abc import Callable

import torch
from torch import Tensor

from pages.many_heads.context import q_and_k_of
from pages.many_heads.patterns import Pattern, plain_word
from viz.core.analysis.checks import sdpa_weights
from viz.core.analysis.several_heads import pattern_share, score_form
from viz.frame import compute
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.examples import minimal_pairs
from viz.frame.specs import Mask, Source
from viz.models.capture import Capture
from viz.models.tokens import words_as_read


@compute.cached
def strengths(source: Source, layer: int, head: int) -> Tensor:
    """Return the singular values of W_Q W_Kᵀ, largest first."""
    weights = compute.trace(source, layer, Mask()).projections
    with torch.inference_mode():
        return torch.linalg.svdvals(score_form(*q_and_k_of(weights, head)))


@compute.cached
def rank_by_torch(source: Source, layer: int, head: int) -> int:
    """Return the rank of W_Q W_Kᵀ from its factors in double precision: the smaller of their ranks."""
    weights = compute.trace(source, layer, Mask()).projections
    with torch.inference_mode():
        w_q, w_k = (factor.double() for factor in q_and_k_of(weights, head))
        return int(torch.linalg.matrix_rank(torch.linalg.qr(w_q).R @ torch.linalg.qr(w_k).R.T, rtol=1e-5))


@compute.cached
def shares(source: Source, mask: Mask, patterns: tuple[Pattern, ...]) -> Tensor:
    """Return the share of each pattern in every head, (patterns, L, H)."""
    capture = compute.read(source)
    n = len(capture.tokens.ids)
    targets = [pattern.target(n) for pattern in patterns]
    layers = (capture.layer(i, allowed=mask.allowed(n, n)).weights for i in range(capture.n_layers))
    return torch.stack([torch.stack([pattern_share(w, target) for target in targets]) for w in layers], 1)


@compute.cached
def shares_by_torch(source: Source, mask: Mask, patterns: tuple[Pattern, ...]) -> Tensor:
    """Return the shares from the weights inside torch's own attention, summed pair by pair."""
    capture = compute.read(source)
    n = len(capture.tokens.ids)
    by_layer = []
    for call in capture.calls:
        weights = sdpa_weights(call.q, call.k, **with_mask(call.options, mask_by_rule(mask, n, n))).nan_to_num(0)
        by_layer.append(torch.stack([_by_pairs(weights, pattern) for pattern in patterns]))
    return torch.stack(by_layer, 1)


def _by_pairs(weights: Tensor, pattern: Pattern) -> Tensor:
    total = torch.stack([weights[:, query, key] for query, key in pattern.pairs]).sum(0)
    return total / len({query for query, _ in pattern.pairs})


@compute.cached
def nearest_and_mean(source: Source, mask: Mask, layer: int, head: int) -> Tensor:
    """Return the map of one head and the mean over all heads of all layers, (2, T, T)."""
    capture = compute.read(source)
    n = len(capture.tokens.ids)
    visible = mask.allowed(n, n)
    mean = sum(capture.layer(i, allowed=visible).weights.mean(0) for i in range(capture.n_layers)) / capture.n_layers
    assert isinstance(mean, Tensor)
    return torch.stack([capture.layer(layer, allowed=visible).weights[head], mean])


@compute.cached
def looks_of_it(model: str) -> Tensor:
    """Return the weight of "it" on the nouns of every pair, (pairs, words, L, H, nouns); empty if a word is unknown."""
    return _looks(model, lambda capture, i: capture.layer(i).weights)


@compute.cached
def looks_of_it_by_torch(model: str) -> Tensor:
    """Return the same from the weights inside torch's own attention."""
    return _looks(
        model, lambda capture, i: sdpa_weights(capture.calls[i].q, capture.calls[i].k, **capture.calls[i].options)
    )


def _looks(model: str, weights_of: Callable[[Capture, int], Tensor]) -> Tensor:
    pairs = []
    for pair in minimal_pairs():
        words = []
        for word in pair.words:
            capture = compute.read(Source(kind="model", text=pair.text.format(word), model=model))
            labels = [plain_word(label) for label in words_as_read(capture.tokens)]
            if any(labels.count(target) != 1 for target in ("it", *pair.nouns)):
                return torch.zeros(0)
            it, *nouns = (_tokens_of(capture, labels.index(target)) for target in ("it", *pair.nouns))
            rows = [weights_of(capture, i)[:, it].mean(1) for i in range(capture.n_layers)]
            words.append(torch.stack([torch.stack([row[:, noun].sum(-1) for noun in nouns], -1) for row in rows]))
        pairs.append(torch.stack(words))
    return torch.stack(pairs)


def _tokens_of(capture: Capture, word: int) -> list[int]:
    return [i for i, number in enumerate(capture.tokens.words) if number == word]
