"""What the page keeps: the singular values of a head's form, and how much of a pattern is in every head."""

from collections.abc import Callable

import torch
from torch import Tensor

from pages.many_heads.context import q_and_k_of
from pages.many_heads.patterns import Pattern, bare
from viz.core.analysis.checks import torchs_weights
from viz.core.analysis.several_heads import pattern_share, score_form
from viz.frame import compute
from viz.frame.checks import with_mask
from viz.frame.compute.mask_rule import written_out
from viz.frame.examples import minimal_pairs
from viz.frame.specs import Mask, Source
from viz.models.capture import Capture
from viz.models.tokens import words_as_read


@compute.kept
def strengths(source: Source, layer: int, head: int) -> Tensor:
    """The singular values of W_Q W_Kᵀ, the largest first."""
    weights = compute.trace(source, layer, Mask()).projections
    with torch.inference_mode():
        return torch.linalg.svdvals(score_form(*q_and_k_of(weights, head)))


@compute.kept
def rank_by_torch(source: Source, layer: int, head: int) -> int:
    """The rank of the same, from its factors: that of W_Q and W_K, whichever is smaller, in double precision."""
    weights = compute.trace(source, layer, Mask()).projections
    with torch.inference_mode():
        w_q, w_k = (factor.double() for factor in q_and_k_of(weights, head))
        return int(torch.linalg.matrix_rank(torch.linalg.qr(w_q).R @ torch.linalg.qr(w_k).R.T, rtol=1e-5))


@compute.kept
def shares(source: Source, mask: Mask, patterns: tuple[Pattern, ...]) -> Tensor:
    """How much of each pattern is in every head, (patterns, L, H)."""
    seen = compute.read(source)
    n = len(seen.tokens.ids)
    targets = [pattern.target(n) for pattern in patterns]
    layers = (seen.layer(i, allowed=mask.allowed(n, n)).weights for i in range(seen.n_layers))
    return torch.stack([torch.stack([pattern_share(w, target) for target in targets]) for w in layers], 1)


@compute.kept
def shares_by_torch(source: Source, mask: Mask, patterns: tuple[Pattern, ...]) -> Tensor:
    """The same from the weights inside torch's own attention, added up pair by pair."""
    seen = compute.read(source)
    n = len(seen.tokens.ids)
    found = []
    for call in seen.calls:
        weights = torchs_weights(call.q, call.k, **with_mask(call.options, written_out(mask, n, n))).nan_to_num(0)
        found.append(torch.stack([_by_pairs(weights, pattern) for pattern in patterns]))
    return torch.stack(found, 1)


def _by_pairs(weights: Tensor, pattern: Pattern) -> Tensor:
    given = torch.stack([weights[:, query, key] for query, key in pattern.pairs]).sum(0)
    return given / len({query for query, _ in pattern.pairs})


@compute.kept
def nearest_and_mean(source: Source, mask: Mask, layer: int, head: int) -> Tensor:
    """The map of one head, and the mean of all heads of all layers, (2, T, T)."""
    seen = compute.read(source)
    n = len(seen.tokens.ids)
    allowed = mask.allowed(n, n)
    mean = sum(seen.layer(i, allowed=allowed).weights.mean(0) for i in range(seen.n_layers)) / seen.n_layers
    assert isinstance(mean, Tensor)
    return torch.stack([seen.layer(layer, allowed=allowed).weights[head], mean])


@compute.kept
def looks_of_it(model: str) -> Tensor:
    """Where "it" looks in every pair, (pairs, words, L, H, nouns); empty if the model does not know these words."""
    return _looks(model, lambda seen, i: seen.layer(i).weights)


@compute.kept
def looks_of_it_by_torch(model: str) -> Tensor:
    """The same from the weights inside torch's own attention."""
    return _looks(model, lambda seen, i: torchs_weights(seen.calls[i].q, seen.calls[i].k, **seen.calls[i].options))


def _looks(model: str, weights_of: Callable[[Capture, int], Tensor]) -> Tensor:
    pairs = []
    for pair in minimal_pairs():
        words = []
        for word in pair.words:
            seen = compute.read(Source(kind="model", text=pair.text.format(word), model=model))
            labels = [bare(label) for label in words_as_read(seen.tokens)]
            if any(labels.count(wanted) != 1 for wanted in ("it", *pair.nouns)):
                return torch.zeros(0)
            it, *nouns = (_tokens_of(seen, labels.index(wanted)) for wanted in ("it", *pair.nouns))
            rows = [weights_of(seen, i)[:, it].mean(1) for i in range(seen.n_layers)]
            words.append(torch.stack([torch.stack([row[:, noun].sum(-1) for noun in nouns], -1) for row in rows]))
        pairs.append(torch.stack(words))
    return torch.stack(pairs)


def _tokens_of(seen: Capture, word: int) -> list[int]:
    return [i for i, other in enumerate(seen.tokens.words) if other == word]
