"""Cached parts of a weight: the split of a score, and of its change between two texts, both put to the test."""

from dataclasses import dataclass

import torch
from torch import Tensor

from viz.core.analysis.score_parts import Amounts, Part, contrast_weights, grid, split_change
from viz.core.random_place import random_place
from viz.errors import ModelError
from viz.frame.compute import cached, model, read
from viz.frame.specs import Source
from viz.models.capture import Head
from viz.models.layers.score_parts import (
    NAMED,
    Explanation,
    exchange_part,
    explain,
    plain_words,
    row_with,
    scoring_heads,
)
from viz.models.recount.own_attention import has_own_attention
from viz.models.recount.score_parts import contrast_by_weights, head_by_rows

Edge = tuple[int, int]
MOST, RIVALS = 3, 3
"""Heads that a change is told of, and rivals that are exchanged beside what is."""


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A score's split; ``words`` the same by pairs of words; ``rivals`` are other parts with the weight without each.

    ``error`` is how far the sum is from the model's own weights, None where they cannot be had; ``by_rows`` that of
    a head by its rows of W_O, with its name.
    """

    split: Explanation
    words: Tensor
    rivals: dict[Part, float]
    error: float | None
    by_rows: tuple[float, str] | None


@dataclass(frozen=True, kw_only=True)
class Change:
    """The change of a key's score, less that of ``against``, from text to text; ``size`` is the sum of parts' sizes.

    ``heads`` bring most of it to the query: their parts, and the weight that each has on the words that changed;
    ``rows`` are those of both texts, ``after`` after the exchange, ``rivals`` after one of other heads.
    """

    total: float
    size: float
    against: int
    heads: dict[Part, tuple[float, float]]
    rows: tuple[Tensor, Tensor]
    after: tuple[Tensor, Tensor]
    rivals: tuple[Tensor, Tensor]
    error: float | None


@cached
def reason(source: Source, at: Head, edge: Edge) -> Reason:
    """Split a score of a head, ``at`` (layer, head), and put the largest part to the test."""
    capture, loaded_model = read(source), model(source.model)
    with torch.inference_mode():
        scoring = scoring_heads(loaded_model, capture, at[0])[at[1]]
        split = explain(capture, scoring, at, edge)
        against = [word for word in plain_words(capture, at[0], edge[0]) if word != edge[1]]
        c = contrast_weights(len(capture.tokens.ids), edge[1], against)
        amounts = split.sides[split.side]
        besides = sorted(
            (part for part in amounts if part.kind in NAMED and part != split.part), key=amounts.__getitem__
        )
        rivals = {
            part: exchange_part(capture, scoring, at[0], edge, split.side, part) for part in besides[: -RIVALS - 1 : -1]
        }
        error = by_rows = None
        if has_own_attention(loaded_model):
            error = abs(contrast_by_weights(loaded_model, capture, *at, edge[0], c) - split.total)
            if at[0]:
                seed = random_place(10**6, source, at, edge)
                by_rows = head_by_rows(loaded_model, capture, scoring, edge[0], c, split.sides[0], seed)
        by_word = at[0] == 1 and "decoder" in capture.stacks
        words = grid(scoring, edge[0], c, by_word=True) if by_word else split.grid
    return Reason(split=split, words=words, rivals=rivals, error=error, by_rows=by_rows)


@cached
def change(a: Source, b: Source, at: Head, edges: tuple[Edge, Edge], places: tuple[Edge, ...], word: int) -> Change:
    """Split the change of a key's score less that of the word looked at most beside it, and exchange its heads.

    Args:
        a: the first text.
        b: the second, of the same model.
        at: the layer and the head.
        edges: the query and the key, in either text.
        places: the tokens that are in both, in either text.
        word: the place in the first text of the word that changed.
    """
    loaded_model, captures = model(a.model), (read(a), read(b))
    queries = edges[0][0], edges[1][0]
    rows = [capture.layer(at[0]).weights[at[1], query] for capture, query in zip(captures, queries, strict=True)]
    plain = [set(plain_words(capture, at[0], query)) for capture, query in zip(captures, queries, strict=True)]
    besides = [pair for pair in places if pair[0] in plain[0] - set(edges[0]) and pair[1] in plain[1]]
    if not besides or any(edge[1] not in words for edge, words in zip(edges, plain, strict=True)):
        raise ModelError("split_word")
    rival_key = max(besides, key=lambda pair: float(rows[0][pair[0]] + rows[1][pair[1]]))
    with torch.inference_mode():
        heads = [scoring_heads(loaded_model, capture, at[0])[at[1]] for capture in captures]
        keys = ((edge[1], place) for edge, place in zip(edges, rival_key, strict=True))
        c = [contrast_weights(len(head.q), key, [place]) for head, (key, place) in zip(heads, keys, strict=True)]
        at_query, at_key = split_change((heads[0], heads[1]), queries, (c[0], c[1]))
        amounts = *at_query.values(), *at_key.values()
        total, size = sum(amounts), sum(map(abs, amounts))
        carriers = _carriers(at_query, total)
        layers = {part.layer for part in carriers}
        rest = [part for part in at_query if part.layer in layers and part.kind == "head" and part not in carriers]
        after, rows_of_rivals = (
            [
                row_with(loaded_model, captures[i], captures[1 - i], at, parts, (queries[i], queries[1 - i]))
                for i in (0, 1)
            ]
            for parts in (carriers, rest[:MOST])
        )
    error = None
    if has_own_attention(loaded_model):
        texts = zip(captures, queries, c, strict=True)
        sums = (contrast_by_weights(loaded_model, capture, *at, query, of) for capture, query, of in texts)
        error = abs(-next(sums) + next(sums) - total)
    looks = {part: float(captures[0].layer(part.layer).weights[part.head, queries[0], word]) for part in carriers}
    return Change(
        total=total, size=size, against=rival_key[0], heads={part: (at_query[part], looks[part]) for part in carriers},
        rows=(rows[0], rows[1]), after=(after[0], after[1]), rivals=(rows_of_rivals[0], rows_of_rivals[1]),
        error=error,
    )  # fmt: skip


def _carriers(amounts: Amounts, total: float) -> list[Part]:
    """The three heads that bring most of a change; none if they bring less than half of it."""
    sign = 1 if total > 0 else -1
    heads = [part for part in amounts if part.kind == "head" and sign * amounts[part] > 0]
    largest = sorted(heads, key=lambda part: -sign * amounts[part])[:MOST]
    return largest if sign * sum(amounts[part] for part in largest) >= abs(total) / 2 else []
