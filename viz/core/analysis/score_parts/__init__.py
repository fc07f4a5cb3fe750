"""The exact split of an attention score: what it is made of in the residual streams at the query and at the key.

With the scale of every norm held at its value of this pass each norm is affine, so a stream is a sum of parts in front
of a norm and behind it, and a score, bilinear in two streams, a sum over parts of either. What a softmax sees are
differences: a score is split against its mean over other keys. Whether a part is the cause, :func:`exchange` says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from viz.core.analysis.attribution import final_norm_direction
from viz.core.norm import Norm, NormWeights, layer_norm

KINDS = ("word", "place", "head", "feed_forward", "constant")
"""Kinds of parts; the last is biases, the norms' shifts and token types."""


class Part(NamedTuple):
    """Something written into a stream: of which kind, by which layer and head (-1 where it has none)."""

    kind: str
    layer: int = -1
    head: int = -1


class Step(NamedTuple):
    """A part ``x`` (T, d_model) of the streams, or, with ``norm``, a norm of their sum so far, which is x then.

    A head's x is ``weights`` (T, T) times ``values`` (T, d_model).
    """

    part: Part
    x: Tensor
    norm: NormWeights | None = None
    weights: Tensor | None = None
    values: Tensor | None = None


Amounts = dict[Part, float]
CONSTANT = Part("constant")


@dataclass(frozen=True, kw_only=True)
class ScoringHead:
    """A head, its queries ``q`` and keys ``k`` (T, d_k), and all that is written in front of it, in order.

    ``w_q``, ``w_k`` (d_model, d_k), ``b_q`` and ``b_k`` are this head's and its group's; ``turns`` (T, d_k, d_k) turn
    each token's row q and k from the right (RoPE); ``scale`` multiplies their products.
    """

    steps: tuple[Step, ...]
    q: Tensor
    k: Tensor
    w_q: Tensor
    w_k: Tensor
    b_q: Tensor
    b_k: Tensor
    scale: float
    normalize: Norm = layer_norm
    turns: Tensor | None = None

    @property
    def is_centred(self) -> bool:
        """True if its norms take the mean away."""
        return self.normalize is layer_norm

    def project(self, parts: Float[Tensor, "P A d_model"], at: Int[Tensor, " A"]) -> tuple[Tensor, Tensor]:
        """Parts of the queries and of the keys of some tokens, turned, (P, A, d_k); biases go to the last one."""
        sides = [parts @ w.double() for w in (self.w_q, self.w_k)]
        for side, b in zip(sides, (self.b_q, self.b_k), strict=True):
            side[-1] += b.double()
        if self.turns is not None:
            sides = [torch.einsum("pam,amn->pan", side, self.turns[at].double()) for side in sides]
        return sides[0], sides[1]

    def read(self, at: Int[Tensor, " A"], put: Mapping[Part, Tensor] | None = None) -> Float[Tensor, "R d_model"]:
        """Return what W_Q and W_K read at some tokens, with some parts replaced and all norms computed anew."""
        x = torch.zeros(1, dtype=torch.float64)
        for step in self.steps:
            x = self.normalize(x, step.norm) if step.norm else x + (put or {}).get(step.part, step.x[at]).double()
        return x


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


def split_score(head: ScoringHead, query: int, c: Float[Tensor, " T"]) -> tuple[Amounts, Amounts]:
    r"""Split a sum of a query's scores, such as one against its mean over others, at the query and at the key.

    .. math:: \sum_t c_t\, \frac{q_i \cdot k_t}{\sqrt{d_k}} = \sum_p r_i \cdot x_i^p = \sum_p \sum_t r_t \cdot x_t^p

    where r is what the other side reads the stream by, carried back through the norms with their scales held.

    Args:
        head: the head, and the streams in front of its layer.
        query: i, the token that looks.
        c: of each token, as of :func:`contrast_weights`; 0 for tokens that play no part.

    Example:
        A head that reads words of 2 numbers as they are, q = (3, 1) and k - k' = (2, -2):

        >>> words, eye = torch.tensor([[1.0, 2.0], [3.0, 0.0]]), torch.eye(2)
        >>> head = ScoringHead(steps=(Step(Part("word"), words),), w_q=eye, w_k=eye, q=words + torch.tensor([0.0, 1.0]),
        ...                    k=words, b_q=torch.tensor([0.0, 1.0]), b_k=torch.zeros(2), scale=1.0)
        >>> list(split_score(head, 1, contrast_weights(2, 1, [0]))[0].values())
        [6.0, -2.0]
    """
    return _read_by(head, query, c, *_readers(head, query, c))


def split_change(
    heads: tuple[ScoringHead, ScoringHead], queries: tuple[int, int], c: tuple[Tensor, Tensor]
) -> tuple[Amounts, Amounts]:
    r"""Split how such a sum changes from one text to another; the amounts at the query and at the keys add up to it.

    .. math:: \Delta (q \cdot k) = \Delta q \cdot \tfrac{k + k'}{2} + \tfrac{q + q'}{2} \cdot \Delta k
    """
    texts = list(zip(heads, queries, c, strict=True))
    q, k = (torch.stack(pair).mean(0) for pair in zip(*(_readers(*text) for text in texts), strict=True))
    before, after = (_read_by(*text, q, k) for text in texts)
    at_query, at_key = ({part: b[part] - a[part] for part in a} for a, b in zip(before, after, strict=True))
    return at_query, at_key


def _readers(head: ScoringHead, query: int, c: Tensor) -> tuple[Tensor, Tensor]:
    """Return q, which reads keys, and the weighted sum of keys, which reads the query."""
    return head.q[query].double() * head.scale, c @ head.k.double() * head.scale


def _read_by(head: ScoringHead, query: int, c: Tensor, q: Tensor, k: Tensor) -> tuple[Amounts, Amounts]:
    keys = c.nonzero().flatten()
    at_query = _amounts(head, torch.tensor([query]), k[None], head.w_q, head.b_q)
    return at_query, _amounts(head, keys, c[keys, None] * q, head.w_k, head.b_k)


def _amounts(head: ScoringHead, at: Tensor, by: Tensor, w: Tensor, b: Tensor) -> Amounts:
    """Split the sum over the tokens ``at`` of by · (W x + b), turned, where x is the sum of the parts."""
    by = by if head.turns is None else torch.einsum("an,amn->am", by, head.turns[at].double())
    r, amounts = by @ w.double().T, {CONSTANT: float((by * b.double()).sum())}
    for step in reversed(head.steps):
        part, x = (step.part, step.x[at]) if step.norm is None else (CONSTANT, step.norm.shift)
        amounts[part] = amounts.get(part, 0.0) + (0.0 if x is None else float((r * x.double()).sum()))
        if step.norm is not None:
            r = final_norm_direction(r, step.x[at], step.norm, centred=head.is_centred)
    return dict(reversed(amounts.items()))


def grid(head: ScoringHead, query: int, c: Float[Tensor, " T"], *, by_word: bool = False) -> Float[Tensor, "P P"]:
    """Split the same sum by pairs, of :data:`KINDS` at the query along the rows and at the key along the columns.

    With ``by_word`` the pairs are of the T words that things come from, with their places, and in the last two rows
    and columns feed-forward networks and constants. What a head brings comes from the word that it took it from.
    """
    # A few keys at a time: the words of 512 tokens at each of them would be a gigabyte.
    chunks = c.nonzero().flatten().split(16 if by_word else len(c))
    k = torch.stack([(_carry(head, at, by_word)[1] * c[at, None]).sum(1) for at in chunks]).sum(0)
    return head.scale * _carry(head, torch.tensor([query]), by_word)[0][:, 0] @ k.T


def _carry(head: ScoringHead, at: Tensor, by_word: bool) -> tuple[Tensor, Tensor]:
    """Carry kinds of parts, or words, of some tokens forward to their queries and keys, the norms' scales held."""
    n = len(head.steps[0].x) + 2 if by_word else len(KINDS)
    parts = torch.zeros(n, len(at), head.w_q.shape[0], dtype=torch.float64)
    for part, x, norm, weights, values in head.steps:
        if norm is not None:
            plain = replace(norm, gain=torch.ones_like(norm.gain))
            parts = final_norm_direction(parts, x[at], plain, centred=head.is_centred) * norm.gain.double()
            parts[-1] += 0.0 if norm.shift is None else norm.shift.double()
        elif by_word and part.kind in ("word", "place"):
            parts[at, torch.arange(len(at))] += x[at].double()
        elif by_word and weights is not None and values is not None:
            parts[:-2] += weights[at].double().T[:, :, None] * values.double()[:, None]
        else:
            parts[KINDS.index(part.kind) - len(KINDS)] += x[at].double()
    return head.project(parts, at)


def exchange(
    head: ScoringHead,
    edge: tuple[int, int],
    side: int,
    put: Mapping[Part, Float[Tensor, "M d_model"]],
    allowed: Bool[Tensor, " T"],
) -> Float[Tensor, " M"]:
    """Weight of a query's key with parts at the query (``side`` 0) or the key (1) replaced, M times over.

    Norms are computed anew; what later heads and feed-forward networks wrote stays.
    """
    (query, key), q, k = edge, head.q.double(), head.k.double()
    rows = head.read(torch.tensor([edge[side]]), put)
    rows = head.project(rows[None], torch.full((len(rows),), edge[side]))[side][0]
    scores = (rows @ k.T if side == 0 else (k @ q[query]).repeat(len(rows), 1)) * head.scale
    if side == 1:
        scores[:, key] = rows @ q[query] * head.scale
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1)[:, key]
