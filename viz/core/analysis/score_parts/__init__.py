"""The exact split of an attention score: which parts of the two residual streams it is made of.

A score is bilinear in the streams at the query and at the key. With the scale of every norm held at its value of this
pass each norm is affine, so a stream is a sum of parts in front of a norm and behind it, also where norms stand behind
each sum. What a softmax sees are differences: a score is split against its mean over other keys.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from viz.core.analysis.attribution import final_norm_direction, hold_norm
from viz.core.block import BlockDesign, BlockTrace
from viz.core.heads import share_kv
from viz.core.norm import NormWeights, layer_norm

GROUPS = ("word", "place", "head", "feed_forward", "constant")
"""Kinds of parts of a stream; the last is biases, the norms' shifts and token types."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A tensor (T, d_model) that is added to the streams, or a norm that their sum goes through, which is ``x`` then.

    ``layer`` and ``head`` are -1 for what has none; ``trace`` is of the block that it belongs to.
    """

    x: Tensor
    kind: str = ""
    layer: int = -1
    head: int = -1
    norm: NormWeights | None = None
    trace: BlockTrace | None = None


@dataclass(frozen=True, kw_only=True)
class ScoringHead:
    """A head, and all that is written into the streams of T tokens in front of its layer.

    ``word``, ``place`` and ``constant`` (T, d_model) are summed, and normed by ``embedding_norm`` if there is one, into
    what the first of the ``blocks`` below the layer reads; ``norm`` is in front of W_Q and W_K, if there is one.
    ``w_q`` and ``w_k`` (d_model, d_k) with ``b_q`` and ``b_k`` (d_k) are this head's and its group's; ``turns``
    (T, d_k, d_k) multiply the rows q and k of each token from the right (RoPE), ``scale`` their products.
    """

    word: Tensor
    place: Tensor
    constant: Tensor
    blocks: Sequence[BlockTrace]
    w_q: Tensor
    w_k: Tensor
    b_q: Tensor
    b_k: Tensor
    scale: float
    design: BlockDesign
    embedding_norm: NormWeights | None = None
    norm: NormWeights | None = None
    turns: Tensor | None = None

    @property
    def embedding(self) -> Tensor:
        """Sum of what each token begins with, in front of its norm, (T, d_model)."""
        return self.word + self.place + self.constant

    @property
    def steps(self) -> Iterator[Step]:
        """All that makes the streams, in order, up to W_Q and W_K."""
        yield from (Step(x=getattr(self, kind), kind=kind) for kind in ("word", "place", "constant"))
        x, is_post = self.embedding, self.design.norm == "post"
        if self.embedding_norm is not None:
            yield Step(x=x, norm=self.embedding_norm)
        for layer, trace in enumerate(self.blocks):
            weights, x = trace.weights, trace.output
            for number, contribution in enumerate(trace.attention.contributions):
                yield Step(x=contribution, kind="head", layer=layer, head=number, trace=trace)
            if weights.attention.b_o is not None:
                yield Step(x=weights.attention.b_o.expand_as(x), kind="constant")
            if is_post:
                yield Step(x=trace.attention_sublayer.added, norm=weights.attention_norm)
            yield Step(x=trace.feed_forward.output, kind="feed_forward", layer=layer)
            if is_post:
                yield Step(x=trace.feed_forward_sublayer.added, norm=weights.feed_forward_norm)
        if self.norm is not None:
            yield Step(x=x, norm=self.norm)

    @property
    def is_centred(self) -> bool:
        """True if its norms take the mean away."""
        return self.design.normalize is layer_norm

    def turn(self, rows: Float[Tensor, "*B A d_k"], at: Int[Tensor, " A"]) -> Float[Tensor, "*B A d_k"]:
        """Turn queries or keys of the tokens ``at`` by their places."""
        return rows if self.turns is None else torch.einsum("...am,amn->...an", rows, self.turns[at].double())

    def queries_and_keys(self) -> tuple[Tensor, Tensor]:
        """Queries and keys of all tokens, turned, each (T, d_k), in float64."""
        every = torch.arange(len(self.word))
        q, k = (rows.sum(0) for rows in project_parts(self, every, every, carry_groups))
        return q, k


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a score: ``side`` is "query" or "key", ``kind`` one of :data:`GROUPS`."""

    side: str
    kind: str
    layer: int = -1
    head: int = -1
    amount: float


@dataclass(frozen=True, kw_only=True)
class ScoreParts:
    """The contrast of a score, split at the query, at the key, and by group at both.

    ``parts`` of each side add up to the contrast, and so does ``grid`` (5, 5), of :data:`GROUPS` at the query along its
    rows and at the key along its columns.
    """

    parts: tuple[Part, ...]
    grid: Tensor

    @property
    def contrast(self) -> float:
        """Score of the key minus its mean over the keys that it is held against."""
        return float(self.grid.sum())

    def side(self, side: str) -> list[Part]:
        """Parts at "query" or "key", the largest first."""
        return sorted((part for part in self.parts if part.side == side), key=lambda part: -part.amount)

    def main_part(self) -> Part | None:
        """Return the head, word or place that brings most, if it is half of the contrast; None if none brings so much.

        A feed-forward network is never named: exchanged for what it wrote at other words, it is hardly ever the cause.
        """
        nameable = [part for part in self.parts if part.kind in ("word", "place", "head")]
        largest = max(nameable, key=lambda part: part.amount)
        return largest if largest.amount >= self.contrast / 2 > 0 else None


def contrast_weights(n: int, key: int, against: Sequence[int]) -> Float[Tensor, " n"]:
    """Return 1 at the key and a share of -1 at each of the others, in float64.

    Example:
        >>> contrast_weights(4, 1, [0, 3]).tolist()
        [-0.5, 1.0, 0.0, -0.5]
    """
    weights = torch.zeros(n, dtype=torch.float64)
    weights[list(against)] = -1 / len(against)
    weights[key] += 1
    return weights


def split_score(head: ScoringHead, query: int, weights: Float[Tensor, " T"]) -> ScoreParts:
    r"""Split a sum of a query's scores, such as one score against its mean over others, into parts at either side.

    .. math:: \sum_t c_t\, \frac{q_i \cdot k_t}{\sqrt{d_k}} = \sum_p r_i \cdot x_i^p = \sum_p \sum_t r_t \cdot x_t^p

    where r is what the other side reads the stream by, :math:`W_Q R_i \sum_t c_t k_t` or :math:`c_t W_K R_t q_i`,
    carried back through the norms with their scales held; biases and shifts are a part of their own.

    Args:
        head: the head, and the streams in front of its layer.
        query: i, the token that looks.
        weights: c of each token, as of :func:`contrast_weights`; 0 for tokens that play no part.

    Example:
        A head that reads words of 2 numbers as they are, and knows no places:

        >>> word, nothing, eye = torch.tensor([[1.0, 2.0], [3.0, 0.0]]), torch.zeros(2, 2), torch.eye(2)
        >>> head = ScoringHead(word=word, place=nothing, constant=nothing, blocks=(), w_q=eye, w_k=eye,
        ...                    b_q=torch.tensor([0.0, 1.0]), b_k=torch.zeros(2), scale=1.0, design=BlockDesign())
        >>> split = split_score(head, 1, contrast_weights(2, 1, [0]))  # q = (3, 1), k - k' = (2, -2)
        >>> [(part.kind, part.amount) for part in split.side("query")]
        [('word', 6.0), ('place', 0.0), ('constant', -2.0)]
    """
    at, keys = torch.tensor([query]), weights.nonzero().flatten()
    q, k = head.queries_and_keys()
    c = head.scale * weights[keys].double()[:, None]
    parts: list[Part] = []
    sides = (
        ("query", at, (c * k[keys]).sum(0, keepdim=True), head.w_q, head.b_q),
        ("key", keys, c * q[at], head.w_k, head.b_k),
    )
    for side, tokens, by, w, b in sides:
        turns = None if head.turns is None else head.turns[tokens].double()
        direction = by if turns is None else torch.einsum("an,amn->am", by, turns)
        parts += _parts(head, side, tokens, direction @ w.double().T, constant=_dot(direction, b))
    return ScoreParts(parts=tuple(parts), grid=pair_parts(head, query, weights, carry_groups))


def _parts(head: ScoringHead, side: str, at: Tensor, r: Tensor, *, constant: float) -> Iterator[Part]:
    """Split the sum of r · x over the tokens ``at``, where x is what W_Q and W_K read."""
    for step in reversed(list(head.steps)):
        if step.norm is not None:
            constant += 0.0 if step.norm.shift is None else _dot(r, step.norm.shift)
            r = final_norm_direction(r, step.x[at], step.norm, centred=head.is_centred)
        elif step.kind == "constant":
            constant += _dot(r, step.x[at])
        else:
            amount = _dot(r, step.x[at])
            yield Part(side=side, kind=step.kind, layer=step.layer, head=step.head, amount=amount)
    yield Part(side=side, kind="constant", amount=constant)


def _dot(a: Tensor, b: Tensor) -> float:
    return float((a * b.double()).sum())


Carry = Callable[[ScoringHead, Tensor], Tensor]
"""Parts of the streams of some tokens where W_Q and W_K read them, (P, A, d_model); the last is constant."""


def pair_parts(head: ScoringHead, query: int, weights: Float[Tensor, " T"], carry: Carry) -> Float[Tensor, "P P"]:
    """As :func:`split_score`, by pairs of parts, at the query along the rows and at the key along the columns.

    Args:
        head: the head, and the streams in front of its layer.
        query: the token that looks.
        weights: of each token's score.
        carry: :func:`carry_groups`, or :func:`carry_sources` for words by words.
    """
    keys = weights.nonzero().flatten()
    q, k = project_parts(head, torch.tensor([query]), keys, carry)
    return head.scale * q[:, 0] @ (k * weights[keys].double()[:, None]).sum(1).T


def project_parts(head: ScoringHead, queries: Tensor, keys: Tensor, carry: Carry) -> tuple[Tensor, Tensor]:
    """Parts of queries and of keys of some tokens, turned, (P, A, d_k)."""

    def project(at: Tensor, w: Tensor, b: Tensor) -> Tensor:
        rows = carry(head, at) @ w.double()
        rows[-1] += b.double()
        return head.turn(rows, at)

    return project(queries, head.w_q, head.b_q), project(keys, head.w_k, head.b_k)


def carry_groups(head: ScoringHead, at: Int[Tensor, " A"]) -> Float[Tensor, "5 A d_model"]:
    """Each of :data:`GROUPS` at the tokens ``at``, where W_Q and W_K read them."""

    def add(parts: Tensor, step: Step) -> None:
        parts[GROUPS.index(step.kind)] += step.x[at].double()

    return _carry(head, at, len(GROUPS), add)


def carry_sources(head: ScoringHead, at: Int[Tensor, " A"]) -> Float[Tensor, "S A d_model"]:
    """Each of T source words at the tokens ``at``, and in two last rows feed-forwards and constants.

    A word's source is the token that it stands at with its place, or that a head took it from, W_V's bias included.
    """

    def add(parts: Tensor, step: Step) -> None:
        if step.kind in ("word", "place"):
            parts[at, torch.arange(len(at))] += step.x[at].double()
        elif step.trace is not None:
            attention, spec = step.trace.attention, step.trace.weights.attention.spec
            values = share_kv(attention.v, spec.H)[step.head].double()
            w_o = step.trace.weights.attention.w_o.unflatten(0, (spec.H, -1))[step.head].double()
            parts[:-2] += attention.weights[step.head, at].double().T[:, :, None] * (values @ w_o)[:, None]
        else:
            parts[-2 if step.kind == "feed_forward" else -1] += step.x[at].double()

    return _carry(head, at, len(head.word) + 2, add)


def _carry(head: ScoringHead, at: Tensor, n_parts: int, add: Callable[[Tensor, Step], None]) -> Tensor:
    """Carry parts of streams forward to W_Q and W_K, the scales of all norms held; shifts go to the last part."""
    parts = torch.zeros(n_parts, len(at), head.word.shape[1], dtype=torch.float64)
    for step in head.steps:
        if step.norm is None:
            add(parts, step)
            continue
        parts = hold_norm(parts, step.x[at], step.norm, centred=head.is_centred)
        if step.norm.shift is not None:
            parts[-1] += step.norm.shift.double()
    return parts
