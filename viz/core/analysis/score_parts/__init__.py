"""The exact split of an attention score: what it is made of in the residual streams at the query and at the key.

With the scale of every norm held at its value of this pass a stream is a sum of parts, in front of a norm and behind
it, and a score a sum over pairs of them. A softmax sees differences: a score is split against its mean over other keys.
Whether a part is the cause, :meth:`ScoringHead.exchange` says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.norm import Norm, NormWeights, layer_norm

KINDS = ("word", "place", "head", "feed_forward", "constant")
"""Kinds of parts; the last is biases, the norms' shifts and token types."""
CAUSES = KINDS[:3]
"""Those that may be a cause; a feed-forward network that is exchanged hardly ever is."""
Edge = tuple[int, int]
"""A query and a key."""


class Part(NamedTuple):
    """Something written into a stream: of which kind, by which layer and head (-1 where it has none)."""

    kind: str
    layer: int = -1
    head: int = -1


class Step(NamedTuple):
    """A part ``x`` (T, 1, d_model) of the streams, or those of a layer's heads, (T, H, d_model).

    These are ``weights`` (H, T, T) times ``values`` (H, T, d_model). A ``norm`` has no parts, and its x (T, 1, 1) is
    what it scales by; its shift is a part of its own behind it.
    """

    parts: tuple[Part, ...]
    x: Tensor
    norm: NormWeights | None = None
    weights: Tensor | None = None
    values: Tensor | None = None


Amounts = Mapping[Part, float]
Split = tuple[list[Part], Tensor]
CONSTANT = Part("constant")


@dataclass(frozen=True, kw_only=True)
class ScoringHead:
    """A head, its ``q`` and ``k`` (T, d_k), and all that is written in front of it, in order.

    ``w_q``, ``w_k`` (d_model, d_k), ``b_q`` and ``b_k`` are this head's and its group's; ``turns`` (T, d_k, d_k) turn
    each token's row q and k from the right (RoPE); ``scale`` multiplies their products. ``plain`` are the tokens that
    scores are split for, ``allowed`` (T, T) says which a query may look at.
    """

    steps: tuple[Step, ...]
    q: Tensor
    k: Tensor
    w_q: Tensor
    w_k: Tensor
    b_q: Tensor
    b_k: Tensor
    scale: float
    plain: tuple[int, ...]
    allowed: Tensor
    normalize: Norm = layer_norm
    turns: Tensor | None = None

    def centre(self, x: Tensor) -> Tensor:
        """Take the mean away, if its norms do."""
        return x - x.mean(-1, keepdim=True) if self.normalize is layer_norm else x

    def rivals(self, edge: Edge) -> list[int]:
        """Return the words in a query's sight beside a key."""
        return [word for word in self.plain if word != edge[1] and self.allowed[edge[0], word]]

    def writes(self, part: Part) -> Float[Tensor, "T d_model"]:
        """Return what a part writes at each token."""
        step = next(step for step in self.steps if part in step.parts)
        return step.x[:, step.parts.index(part)]

    def read(self, at: Sequence[int], part: Part | None = None, put: Tensor | float = 0.0) -> Tensor:
        """Return what W_Q and W_K read at some tokens, with a part replaced, and all norms computed anew."""
        x = torch.zeros(1)
        for step in self.steps:
            x = self.normalize(x, step.norm) if step.norm else x + step.x[at].sum(1)
            if part in step.parts:
                x = x + put - self.writes(part)[at]
        return x

    def row(self, query: int) -> Float[Tensor, " T"]:
        """Return the weights of a query."""
        return (self.k @ self.q[query] * self.scale).masked_fill(~self.allowed[query], -torch.inf).softmax(-1)

    def exchange(self, edge: Edge, side: int, part: Part, put: Tensor) -> float:
        """Mean weight of an edge with a part at the query (``side`` 0) or the key (1) replaced by rows of ``put``.

        Norms are computed anew; what later heads and feed-forward networks wrote stays.
        """
        (query, key), at = edge, edge[side]
        rows = self.read([at], part, put) @ (self.w_q, self.w_k)[side] + (self.b_q, self.b_k)[side]
        rows = rows if self.turns is None else rows @ self.turns[at]
        scores = rows @ self.k.T if side == 0 else (self.k @ self.q[query]).repeat(len(rows), 1)
        if side == 1:
            scores[:, key] = rows @ self.q[query]
        return float((scores * self.scale).masked_fill(~self.allowed[query], -torch.inf).softmax(-1)[:, key].mean())

    def exchange_own(self, edge: Edge, side: int, part: Part) -> float:
        """Mean weight with a part exchanged for those of the text's other words; NaN if there are none."""
        word = self.steps[0].x[:, 0]
        donors = [donor for donor in self.plain if not torch.equal(word[donor], word[edge[side]])]
        return self.exchange(edge, side, part, self.writes(part)[donors])


def contrast_weights(n: int, key: int, rivals: Sequence[int]) -> Float[Tensor, " n"]:
    """Return 1 at the key and a share of -1 at each of the rivals."""
    weights = torch.zeros(n)
    weights[list(rivals)] = -1 / len(rivals)
    weights[key] += 1
    return weights


def split_score(
    head: ScoringHead, query: int, c: Float[Tensor, " T"], kinds: Sequence[str] = KINDS
) -> tuple[Amounts, Amounts, Float[Tensor, "K K"]]:
    r"""Split a sum of a query's scores, such as one against its mean over others, at the query, the key, and both.

    .. math:: \sum_t c_t\, \frac{q_i \cdot k_t}{\sqrt{d_k}} = \sum_p r_i \cdot x_i^p = \sum_p \sum_t r_t \cdot x_t^p

    where r is what the other side reads the stream by, carried back through the norms with their scales held. The last
    is by pairs of kinds, at the query along the rows. The weights c are 0 for tokens that play no part.
    """
    at_query = _carry_back(head, 0, slice(query, query + 1), torch.eye(len(head.b_q))[None])
    at_key = _carry_back(head, 1, slice(None), c[:, None, None] * _by_kind(at_query, kinds) * head.scale)
    sides = _add_up(at_query, c @ head.k * head.scale), _add_up(at_key, torch.ones(len(kinds)))
    return *sides, _by_kind(at_key, kinds).T


def split_by_words(head: ScoringHead, query: int, c: Float[Tensor, " T"]) -> Float[Tensor, "P P"]:
    """Split the same sum by pairs of the T words that things come from, with their places.

    What a head brings comes from the word that it took it from. The last two rows and columns are feed-forward networks
    and constants.
    """
    words, steps = tuple(Part(str(word)) for word in range(len(c))), []
    for step in head.steps:
        if step.weights is not None and step.values is not None:
            steps.append(Step(words, torch.einsum("hts,hsd->tsd", step.weights, step.values)))
        elif step.norm is None and step.parts[0].kind in ("word", "place"):
            steps.append(Step(words, torch.eye(len(c))[:, :, None] * step.x))
        else:
            steps.append(step)
    return split_score(replace(head, steps=tuple(steps)), query, c, [word.kind for word in words] + list(KINDS[3:]))[2]


def split_change(heads: Sequence[ScoringHead], queries: Edge, c: Sequence[Tensor]) -> tuple[Amounts, Amounts]:
    r"""Split how such a sum changes from one text to another; the amounts at the query and at the keys add up to it.

    .. math:: \Delta (q \cdot k) = \Delta q \cdot \tfrac{k + k'}{2} + \tfrac{q + q'}{2} \cdot \Delta k
    """
    texts, unit = list(zip(heads, queries, c, strict=True)), torch.ones(1)
    q = torch.stack([head.q[query] for head, query, _ in texts]).mean(0) * heads[0].scale
    k = torch.stack([of @ head.k for head, _, of in texts]).mean(0) * heads[0].scale
    a, b = (_add_up(_carry_back(head, 0, slice(i, i + 1), k[None, None]), unit) for head, i, _ in texts)
    a_key, b_key = (_add_up(_carry_back(head, 1, slice(None), of[:, None, None] * q), unit) for head, _, of in texts)
    return {part: b[part] - a[part] for part in a}, {part: b_key[part] - a_key[part] for part in a}


def _add_up(split: Split, by: Float[Tensor, " B"]) -> Amounts:
    sums: dict[Part, float] = {}
    for part, amount in zip(split[0], (split[1] @ by).tolist(), strict=True):
        sums[part] = sums.get(part, 0.0) + amount
    return sums


def _by_kind(split: Split, kinds: Sequence[str]) -> Float[Tensor, "K B"]:
    places = torch.tensor([kinds.index(part.kind) for part in split[0]])
    return torch.zeros(len(kinds), split[1].shape[1]).index_add(0, places, split[1])


def _carry_back(head: ScoringHead, side: int, at: slice, by: Float[Tensor, "A B d_k"]) -> Split:
    """Split the sum over some tokens of by · (x W + b), turned, into the parts of their streams x, (P, B)."""
    w, b = (head.w_k, head.b_k) if side else (head.w_q, head.b_q)
    by = by if head.turns is None else by @ head.turns[at].mT
    r, parts, amounts = by @ w.T, [CONSTANT], [(by @ b).sum(0)[None]]
    for step in reversed(head.steps):
        if step.norm is not None:
            r = head.centre(r * step.norm.gain) * step.x[at]
        else:
            parts += step.parts
            amounts.append((step.x[at] @ r.mT).sum(0))
    return parts, torch.cat(amounts)
