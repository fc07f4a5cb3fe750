"""A real model's heads with all that is written into the streams in front of them, for the split of their scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from viz.core.analysis.score_parts import (
    KINDS,
    Amounts,
    Part,
    ScoringHead,
    Step,
    contrast_weights,
    exchange,
    grid,
    split_score,
)
from viz.core.block import BlockTrace
from viz.core.heads import share_kv
from viz.errors import ModelError
from viz.models.attention_interface import recording
from viz.models.blocks import find_block_layout, model_blocks
from viz.models.capture import Capture, Head, calls_of
from viz.models.layers.positions import norm_weights, query_key_change
from viz.models.layout import LoadedModel

NAMED = ("word", "place", "head")
"""Kinds of parts that may be a cause; a feed-forward network that is exchanged hardly ever is."""
LONG = 4.0
"""Times the median length from which a token's stream is a sink's: of SmolLM2's they have 6 to 10."""


def plain_words(capture: Capture, layer: int, query: int | None = None) -> list[int]:
    """Tokens that scores are split for: no special ones, no sinks, not a decoder's first; those in a query's sight."""
    first = next(iter(capture.stacks))
    lengths, allowed = capture.states[first][layer].norm(dim=-1), visible(capture, layer, query)
    is_plain = (lengths <= LONG * lengths.median()) & ~torch.tensor(capture.tokens.special) & allowed
    is_plain[0] &= first != "decoder"
    return is_plain.nonzero().flatten().tolist()


def visible(capture: Capture, layer: int, query: int | None) -> Tensor:
    """True for the tokens that a query may look at, (T,); everywhere if it is None."""
    allowed, n = capture.calls[layer].options.get("allowed"), len(capture.tokens.ids)
    return torch.ones(n, dtype=torch.bool) if allowed is None or query is None else allowed.expand(n, n)[query]


def scoring_heads(model: LoadedModel, capture: Capture, layer: int) -> tuple[ScoringHead, ...]:
    """Return every head of a layer, counted from 0 in the first stack, with what is written in front of it.

    Raises:
        ModelError: "block" and what is different, if the core has no such blocks; "split" if its scores have more than
            words, places and RoPE in them, with which no split has been tried.
    """
    calls, first = capture.calls, next(iter(capture.stacks))
    call, untried = calls[layer], ModelError("split")
    has_more = any(call.options.get(name) is not None for name in ("bias", "score_mod", "sink"))
    has_change = any(c.latent or c.gate is not None or "norm" in c.rotation or not c.has_own_values for c in calls)
    two_stacks = model.model.config.is_encoder_decoder or not capture.states
    if has_more or has_change or two_stacks or find_block_layout(model, first).norm not in ("pre", "post"):
        raise untried
    blocks, w, scale = model_blocks(model, capture), call.projections, call.options.get("scale")
    traces = blocks.choose(range(layer)).run()
    steps = [*_embedding(model, capture), *(step for i, trace in enumerate(traces) for step in _steps(i, trace))]
    if blocks.design.norm == "pre":
        steps.append(Step(Part("norm"), capture.states[first][layer], blocks.weights[layer].attention_norm))
    # Neighbours share a key's matrix.
    share = w.spec.H // w.spec.G
    w_q, b_q, w_k, b_k = (*_by_head(w.w_q, w.b_q, w.spec.H), *_by_head(w.w_k, w.b_k, w.spec.G))
    heads = tuple(
        ScoringHead(
            steps=tuple(steps), turns=_turns(model, capture, layer), normalize=blocks.design.normalize,
            scale=w.spec.d_k**-0.5 if scale is None else scale, q=call.q[h], k=call.k[h // share],
            w_q=w_q[h], b_q=b_q[h], w_k=w_k[h // share], b_k=b_k[h // share],
        )
        for h in range(w.spec.H)
    )  # fmt: skip
    if not torch.allclose(heads[0].read(torch.arange(len(call.x))).float(), call.x, atol=1e-3, rtol=1e-3):
        raise untried
    return heads


def _steps(layer: int, trace: BlockTrace) -> Iterator[Step]:
    """All that a block writes into the streams, and the norms behind its sums."""
    weights, attention, is_post = trace.weights, trace.attention, trace.design.norm == "post"
    w_o = weights.attention.w_o.unflatten(0, (weights.attention.spec.H, -1))
    values = share_kv(attention.v, len(w_o)) @ w_o
    for number, x in enumerate(attention.contributions):
        yield Step(Part("head", layer, number), x, weights=attention.weights[number], values=values[number])
    if weights.attention.b_o is not None:
        yield Step(Part("constant"), weights.attention.b_o.expand_as(trace.x))
    if is_post:
        yield Step(Part("norm"), trace.attention_sublayer.added, weights.attention_norm)
    yield Step(Part("feed_forward", layer), trace.feed_forward.output)
    if is_post:
        yield Step(Part("norm"), trace.feed_forward_sublayer.added, weights.feed_forward_norm)


def _by_head(w: Tensor, b: Tensor | None, n: int) -> tuple[Tensor, Tensor]:
    """A matrix (n, d_model, d_k) and a bias (n, d_k) for each head, zero where there is none."""
    bias = w.new_zeros(w.shape[1]) if b is None else b
    return w.unflatten(1, (n, -1)).transpose(0, 1), bias.unflatten(0, (n, -1))


def _turns(model: LoadedModel, capture: Capture, layer: int) -> Tensor | None:
    """The matrix that turns queries and keys at each place, (T, d_k, d_k); None for a model that turns none."""
    call = capture.calls[layer]
    if not call.is_changed:
        return None
    rows = torch.eye(call.q.shape[-1])[:, None].expand(-1, call.q.shape[1], -1)
    with torch.inference_mode():
        return query_key_change(model, model.layers[layer], call.rotation)(rows, rows)[0].transpose(0, 1)


def _embedding(model: LoadedModel, capture: Capture) -> Iterator[Step]:
    """Words, places and token types of a text, and the norm behind their sum, if there is one."""
    word, rows = model.embeddings(list(capture.tokens.ids)), model.positions()
    embeddings = getattr(model.model.base_model, "embeddings", None)
    types, norm = (getattr(embeddings, name, None) for name in ("token_type_embeddings", "LayerNorm"))
    parts = {"word": word, "place": 0 * word if rows is None else rows[: len(word)]}
    parts["constant"] = 0 * word if types is None else types.weight.detach()[:1].expand_as(word)
    yield from (Step(Part(kind), x) for kind, x in parts.items())
    if norm is not None:
        yield Step(Part("norm"), torch.stack([*parts.values()]).sum(0), norm_weights(norm))


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A score against its mean over the other words in sight, split, and its largest part put to the test.

    ``sides`` are all parts at the query and at the key, ``total`` the sum of either, ``grid`` (5, 5) the same by pairs
    of kinds. ``part`` is the largest of all heads, words and places, at the query (``side`` 0) or at the key (1);
    ``weight`` is the key's, ``after`` that with the part exchanged for those of other words, on average. A word's part
    with RoPE, which turns it by its place, is not ``is_separate``.
    """

    sides: tuple[Amounts, Amounts]
    grid: Tensor
    side: int
    part: Part
    weight: float
    after: float
    is_separate: bool = True

    @property
    def total(self) -> float:
        """Score of the key above its mean over the other words."""
        return float(self.grid.sum())

    @property
    def is_cause(self) -> bool:
        """True if the part is half of the score or more, and the exchange halves the weight."""
        share = self.sides[self.side][self.part] / self.total
        return self.is_separate and share >= 0.5 and self.after <= self.weight / 2

    def statement(self) -> tuple[str, int, Part, float]:
        """Return "by_kind" or "by_part" of the cause, or "no_part" of the largest part, with its side and amount."""
        if self.is_cause:
            kind = KINDS.index(self.part.kind)
            if self.part.kind != "head" and (both := float(self.grid[kind, kind])) >= self.total / 2:
                return "by_kind", self.side, self.part, both
            return "by_part", self.side, self.part, self.sides[self.side][self.part]
        parts = [(amount, side, part) for side in (0, 1) for part, amount in self.sides[side].items()]
        amount, side, part = max(at for at in parts if at[2].kind != "constant")
        return "no_part", side, part, amount


def explain(capture: Capture, scoring: ScoringHead, at: tuple[int, int], edge: tuple[int, int]) -> Explanation:
    """Split one score of a head, ``at`` (layer, head), between two words, ``edge`` (query, key), and test a part.

    Raises:
        ModelError: "split_word" if one of them is no plain word in sight, or there is none beside it; "split_little" if
            the score is less than 1 above its mean.
    """
    (layer, head), (query, key) = at, edge
    words = plain_words(capture, layer, query)
    against = [word for word in words if word != key]
    if key not in words or not against or query not in plain_words(capture, layer):
        raise ModelError("split_word")
    c = contrast_weights(len(capture.tokens.ids), key, against)
    sides, pairs = split_score(scoring, query, c), grid(scoring, query, c)
    if (total := float(pairs.sum())) < 1:
        raise ModelError("split_little", total=f"{total:.1f}")
    nameable = [(side, part) for side in (0, 1) for part in sides[side] if part.kind in NAMED]
    side, part = max(nameable, key=lambda at: sides[at[0]][at[1]])
    return Explanation(
        sides=sides,
        grid=pairs,
        side=side,
        part=part,
        is_separate=part.kind == "head" or scoring.turns is None,
        weight=float(capture.layer(layer).weights[head, query, key]),
        after=exchange_part(capture, scoring, layer, edge, side, part),
    )


def exchange_part(
    capture: Capture, scoring: ScoringHead, layer: int, edge: tuple[int, int], side: int, part: Part
) -> float:
    """Mean weight of an edge with a part at one end exchanged for those of other words; NaN if there are none."""
    ids, x = capture.tokens.ids, next(step.x for step in scoring.steps if step.part == part)
    donors = [word for word in plain_words(capture, layer) if ids[word] != ids[edge[side]]]
    return float(exchange(scoring, edge, side, {part: x[donors]}, visible(capture, layer, edge[0])).mean())


def row_with(
    model: LoadedModel, capture: Capture, donor: Capture, at: Head, heads: Sequence[Part], places: tuple[int, int]
) -> Tensor:
    """Weights of a query in the head ``at`` with what earlier heads write there taken from another text, (T,).

    The model runs anew: what lies between is made of it.

    Args:
        model: of both texts.
        capture: the text that is run.
        donor: the other one.
        at: the head whose weights are read.
        heads: those that are replaced.
        places: the query in this text, and in the other.
    """
    edits = {}
    for layer in {part.layer for part in heads}:
        numbers, outputs = [part.head for part in heads if part.layer == layer], donor.multi_head(layer).head_outputs

        def put(output: Tensor, numbers: list[int] = numbers, outputs: Tensor = outputs) -> Tensor:
            output = output.clone()
            output[0, places[0], numbers] = outputs[numbers, places[1]]
            return output

        edits[id(model.layers[layer].attention)] = put
    with torch.inference_mode(), recording(edits) as recorder:
        model.model.base_model(input_ids=torch.tensor([capture.tokens.ids]), return_dict=True)
    return replace(capture, stacks=calls_of(model.layers, recorder)).layer(at[0]).weights[at[1], places[0]]
