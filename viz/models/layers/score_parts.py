"""A real model's heads with all that is written into the streams in front of them, for the split of their scores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from viz.core.analysis.score_parts import (
    CAUSES,
    KINDS,
    Amounts,
    Edge,
    Part,
    ScoringHead,
    Step,
    contrast_weights,
    split_score,
)
from viz.core.block import BlockTrace
from viz.core.heads import share_kv
from viz.core.norm import Norm, NormWeights, layer_norm
from viz.errors import ModelError
from viz.models.blocks import find_block_layout, model_blocks
from viz.models.capture import Capture, Head, capture_tokens
from viz.models.interventions import replaced
from viz.models.layers.positions import norm_weights, query_key_change
from viz.models.layout import LoadedModel

LEAST = 1.0
"""Of a score above its mean, to be explained."""
LONG = 4.0
"""Times the median length from which a token's stream is a sink's: of SmolLM2's they have 6 to 10."""


def scoring_heads(model: LoadedModel, capture: Capture, layer: int) -> tuple[ScoringHead, ...]:
    """Return every head of a layer, counted from 0 in the first stack, with what is written in front of it.

    Raises:
        ModelError: "block" and what is different, if the core has no such blocks; "split" if its scores have more than
            words, places and RoPE in them, with which no split has been tried.
    """
    calls, first, untried = capture.calls, next(iter(capture.stacks)), ModelError("split")
    call, w = calls[layer], calls[layer].projections
    has_more = any(call.options.get(name) is not None for name in ("bias", "score_mod", "sink"))
    has_change = any(c.latent or c.gate is not None or "norm" in c.rotation or not c.has_own_values for c in calls)
    two_stacks = model.model.config.is_encoder_decoder or not capture.states
    if has_more or has_change or two_stacks or find_block_layout(model, first).norm not in ("pre", "post"):
        raise untried
    blocks, scale, turns = model_blocks(model, capture), call.options.get("scale"), None
    normalize, steps = blocks.design.normalize, [*_embedding(model, capture)]
    for i, trace in enumerate(blocks.choose(range(layer)).run()):
        steps += _written_by(i, trace)
    if blocks.design.norm == "pre":
        steps += _norm(capture.states[first][layer], blocks.weights[layer].attention_norm, normalize)
    if call.is_changed:
        eye = torch.eye(call.q.shape[-1])[:, None].expand(-1, call.q.shape[1], -1)
        turns = query_key_change(model, model.layers[layer], call.rotation)(eye, eye)[0].transpose(0, 1)
    lengths, n, heads = capture.states[first][layer].norm(dim=-1), len(call.x), []
    is_plain, allowed = lengths <= LONG * lengths.median(), call.options.get("allowed")
    # No special tokens, no sinks, and not a decoder's first token.
    plain = [t for t in range(n) if is_plain[t] and not capture.tokens.special[t] and (t or first != "decoder")]
    allowed = torch.ones(n, n, dtype=torch.bool) if allowed is None else allowed.expand(n, n)
    for h in range(w.spec.H):
        # Neighbours share a key's matrix.
        g = h * w.spec.G // w.spec.H
        (w_q, b_q), (w_k, b_k) = _of_head(w.w_q, w.b_q, w.spec.H, h), _of_head(w.w_k, w.b_k, w.spec.G, g)
        head = ScoringHead(
            steps=tuple(steps), q=call.q[h], k=call.k[g], w_q=w_q, w_k=w_k, b_q=b_q, b_k=b_k, turns=turns,
            scale=w.spec.d_k**-0.5 if scale is None else scale, normalize=normalize,
            plain=tuple(plain), allowed=allowed,
        )  # fmt: skip
        heads.append(head)
    if not torch.allclose(heads[0].read(range(n)), call.x, atol=1e-3, rtol=1e-3):
        raise untried
    return tuple(heads)


def _of_head(w: Tensor, b: Tensor | None, n: int, head: int) -> tuple[Tensor, Tensor]:
    of_head = w.unflatten(1, (n, -1))[:, head]
    return of_head, of_head.new_zeros(of_head.shape[1]) if b is None else b.unflatten(0, (n, -1))[head]


def _norm(x: Tensor, weights: NormWeights, normalize: Norm) -> Iterator[Step]:
    centred = x - x.mean(-1, keepdim=True) if normalize is layer_norm else x
    scale = (centred.square().mean(-1, keepdim=True) + weights.eps).rsqrt()
    yield Step((), scale[:, None], replace(weights, shift=None))
    if weights.shift is not None:
        yield Step((Part("constant"),), weights.shift.expand_as(x)[:, None])


def _written_by(layer: int, trace: BlockTrace) -> Iterator[Step]:
    """All that a block writes into the streams, and the norms behind its sums."""
    weights, attention, design = trace.weights, trace.attention, trace.design
    w_o = weights.attention.w_o.unflatten(0, (weights.attention.spec.H, -1))
    parts, values = tuple(Part("head", layer, head) for head in range(len(w_o))), share_kv(attention.v, len(w_o)) @ w_o
    yield Step(parts, attention.contributions.transpose(0, 1), weights=attention.weights, values=values)
    if weights.attention.b_o is not None:
        yield Step((Part("constant"),), weights.attention.b_o.expand_as(trace.x)[:, None])
    if design.norm == "post":
        yield from _norm(trace.attention_sublayer.added, weights.attention_norm, design.normalize)
    yield Step((Part("feed_forward", layer),), trace.feed_forward.output[:, None])
    if design.norm == "post":
        yield from _norm(trace.feed_forward_sublayer.added, weights.feed_forward_norm, design.normalize)


def _embedding(model: LoadedModel, capture: Capture) -> Iterator[Step]:
    """Words, places and token types of a text, and the norm behind their sum, if there is one."""
    word, rows = model.embeddings(list(capture.tokens.ids)), model.positions()
    embeddings = getattr(model.model.base_model, "embeddings", None)
    types, norm = (getattr(embeddings, name, None) for name in ("token_type_embeddings", "LayerNorm"))
    x = [word, 0 * word if rows is None else rows[: len(word)]]
    x.append(0 * word if types is None else types.weight.detach()[:1].expand_as(word))
    yield from (Step((Part(kind),), of[:, None]) for kind, of in zip(("word", "place", "constant"), x, strict=True))
    if norm is not None:
        yield from _norm(torch.stack(x).sum(0), norm_weights(norm), layer_norm)


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A score against its mean over the other words in sight, split, and its largest part put to the test.

    ``sides`` are all parts at the query and at the key, ``total`` the sum of either, ``grid`` (5, 5) the same by pairs
    of kinds. ``part`` is the largest of all heads, words and places, at the query (``side`` 0) or at the key (1);
    ``weight`` is the key's, ``after`` that with the part exchanged for those of other words, on average. It
    ``is_cause`` if it is half of the score or more, and the exchange halves the weight.
    """

    sides: tuple[Amounts, Amounts]
    grid: Tensor
    total: float
    side: int
    part: Part
    weight: float
    after: float
    is_cause: bool


def explain(head: ScoringHead, edge: Edge) -> Explanation:
    """Split one score of a head between two words, and test a part.

    Raises:
        ModelError: "split_word" if one of them is no plain word in sight, or there is none beside it.
    """
    (query, key), rivals = edge, head.rivals(edge)
    if query not in head.plain or key not in head.plain or not head.allowed[edge] or not rivals:
        raise ModelError("split_word")
    *sides, grid = split_score(head, query, contrast_weights(len(head.q), key, rivals))
    amount, side, part = max((amount, at, of) for at in (0, 1) for of, amount in sides[at].items() if of.kind in CAUSES)
    total, weight, after = float(grid.sum()), float(head.row(query)[key]), head.exchange_own(edge, side, part)
    # RoPE turns a word's part by its place.
    is_cause = amount >= total / 2 >= LEAST / 2 and after <= weight / 2 and (part.kind == "head" or head.turns is None)
    return Explanation(
        sides=(sides[0], sides[1]), grid=grid, total=total, side=side, part=part, weight=weight, after=after,
        is_cause=is_cause,
    )  # fmt: skip


def say_reason(
    t: Callable[..., str],
    split: Explanation,
    words: Sequence[str],
    number: Callable[[float], str],
    part: Callable[[float], str],
) -> str:
    """Say whether a part is the cause of a large score; ``number`` writes amounts, and ``part`` weights."""
    code, side, cause = "by_part", split.side, split.part
    if split.total < LEAST:
        return t("why.little", total=number(split.total))
    if not split.is_cause:
        parts = [
            (amount, side, of) for side in (0, 1) for of, amount in split.sides[side].items() if of.kind != "constant"
        ]
        code, (_, side, cause) = "no_part", max(parts)
    amount, kind = split.sides[side][cause], KINDS.index(cause.kind)
    if split.is_cause and cause.kind != "head" and (both := float(split.grid[kind, kind])) >= split.total / 2:
        code, amount = "by_kind", both
    return t(
        f"why.{code}", query=words[0], key=words[1], at=words[side], part=name_part(t, cause),
        kind=t(f"why.kind_{cause.kind}"), amount=number(amount), total=number(split.total),
        before=part(split.weight), after=part(split.after),
    )  # fmt: skip


def name_part(t: Callable[..., str], part: Part) -> str:
    """Name a part, with its layer and head if it has any."""
    return t(f"why.part_{part.kind}", layer=part.layer, head=part.head)


def row_with(
    model: LoadedModel, capture: Capture, donor: Capture, at: Head, heads: Sequence[Part], places: Edge
) -> Tensor:
    """Weights of a query in the head ``at`` with what earlier heads write there taken from another text, (T,).

    The model runs anew: what lies between is made of it. ``places`` are the query's in this text, and in the other.
    """
    edits = {}
    for layer in {part.layer for part in heads}:
        numbers = [part.head for part in heads if part.layer == layer]
        edits[layer] = replaced(numbers, donor.multi_head(layer).head_outputs[numbers, places[1]], places[0])
    return capture_tokens(model, capture.tokens, edits=edits).layer(at[0]).weights[at[1], places[0]]
