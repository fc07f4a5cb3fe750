"""A head's map of a long text: exact softmax rows, streamed in strips into pooled cells and statistics of every row."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from viz.core.long.rows import Allowed, ScoreMod

CELLS = 512
"""Of a pooled map's side, at most."""

STRIP, LOWEST = 1 << 19, 64
"""Numbers in one strip of rows, which stay near a core, and its fewest rows: below that a matrix product is slow."""

MINUS_INFINITY = -1e30
"""Instead of minus infinity, which 0 times would make NaN; no score of real vectors comes near it."""

RUN = 256
"""Keys whose largest weight is looked for first: then only one run of a row is searched for the strongest key."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Exact statistics of every row: one number a query.

    ``first``: the weight on the first key (the sink); ``previous``: on the key before the query's own, 0 where there is
    none; ``distance``: the mean of ``abs(i - j)`` under the row's weights; ``entropy``: in nats; ``strongest``: the key
    of the ``largest`` weight; ``nowhere``: the share of a sink that is no key, 0 without one.
    """

    first: Float[Tensor, " T"]
    previous: Float[Tensor, " T"]
    distance: Float[Tensor, " T"]
    entropy: Float[Tensor, " T"]
    strongest: Int[Tensor, " T"]
    largest: Float[Tensor, " T"]
    nowhere: Float[Tensor, " T"]


@dataclass(frozen=True, kw_only=True)
class LongMap:
    """One head on one text: the ``most`` and the ``mean`` of every ``side`` x ``side`` weights, and every row.

    Cells at the right and lower edge may be of fewer weights. A weight that the causal mask blocks counts as 0.
    """

    most: Float[Tensor, "C C"]
    mean: Float[Tensor, "C C"]
    side: int
    rows: Rows


def side_of(n: int, cells: int = CELLS) -> int:
    """Rows, and columns, that one cell pools.

    Example:
        >>> side_of(512), side_of(513), side_of(32_768)
        (1, 2, 64)
    """
    return max(1, math.ceil(n / cells))


def long_map(
    q: Float[Tensor, "T d_k"],
    k: Float[Tensor, "T d_k"],
    *,
    scale: float,
    causal: bool,
    allowed: Allowed | None = None,
    score_mod: ScoreMod | None = None,
    sink: float | None = None,
    cells: int = CELLS,
    check: Callable[[], None] = lambda: None,
) -> LongMap:
    r"""Pool :math:`\operatorname{softmax}(s\, q k^\top)` and describe its rows, a strip of rows at a time.

    Each row's softmax is whole, so every number is exact; what is never there is the matrix of all rows. Memory grows
    with T and not with its square.

    Options are those of :func:`~viz.core.attention.attend`; ``causal`` needs no mask. A side of the map has at most
    so many ``cells``; ``check`` is called before every strip, and may raise, to stop.

    Example:
        Where all keys are alike, a row spreads evenly over what it may see.

        >>> q = k = torch.zeros(4, 2)
        >>> streamed = long_map(q, k, scale=1.0, causal=True, cells=2)
        >>> streamed.most
        tensor([[1.0000, 0.0000],
                [0.3333, 0.3333]])
        >>> streamed.rows.entropy
        tensor([0.0000, 0.6931, 1.0986, 1.3863])
    """
    n, side = len(q), side_of(len(q), cells)
    count = math.ceil(n / side)
    most, total = torch.zeros(2, count, count)
    statistics: list[Rows] = []
    strip = _Strip(q * scale, k, side, causal=causal, allowed=allowed, score_mod=score_mod, sink=sink)
    for start in range(0, n, strip.height):
        check()
        end = min(n, start + strip.height)
        weights = strip.weigh(start, end)
        statistics.append(strip.describe(weights, start, end))
        wide = min(count, weights.shape[1] // side)
        for cell in range(start // side, math.ceil(end / side)):
            rows = weights[max(0, cell * side - start) : (cell + 1) * side - start, : wide * side]
            most[cell, :wide].clamp_(min=rows.amax(0).view(wide, side).amax(-1))
            total[cell, :wide] += rows.sum(0).view(wide, side).sum(-1)
    sizes = torch.full((count,), float(side))
    sizes[-1] = n - side * (count - 1)
    names = Rows.__dataclass_fields__
    rows_of_all = Rows(**{name: torch.cat([getattr(part, name) for part in statistics]) for name in names})
    return LongMap(most=most, mean=total / sizes / sizes[:, None], side=side, rows=rows_of_all)


class _Strip:
    """A strip of rows: its scores and its weights, in two buffers that all strips use one after the other."""

    def __init__(
        self,
        q: Tensor,
        k: Tensor,
        side: int,
        *,
        causal: bool,
        allowed: Allowed | None,
        score_mod: ScoreMod | None,
        sink: float | None,
    ) -> None:
        self.q, self.keys, self.side, self.causal = q, k.T.contiguous(), side, causal
        self.allowed, self.score_mod, self.sink = allowed, score_mod, sink
        self.run = side * math.ceil(RUN / side)
        wide = self._width(len(k))
        self.height = min(len(q), max(LOWEST, STRIP // len(q)))
        self._scores, self._weights = torch.empty(2, self.height * wide)

    def _width(self, n_keys: int) -> int:
        """Columns of a buffer for so many keys: whole runs, which are whole cells."""
        return min(math.ceil(n_keys / self.run), math.ceil(self.keys.shape[1] / self.run)) * self.run

    def weigh(self, start: int, end: int) -> Tensor:
        """The weights of these rows, (rows, columns): as many columns as any of them may look at, and some of 0."""
        n_keys = end if self.causal else self.keys.shape[1]
        height, width = end - start, self._width(n_keys)
        scores = self._scores[: height * width].view(height, width)
        weights = self._weights[: height * width].view(height, width)
        torch.mm(self.q[start:end], self.keys[:, :n_keys], out=scores[:, :n_keys])
        if self.score_mod is not None:
            scores[:, :n_keys] = self.score_mod(scores[:, :n_keys])
        if self.allowed is not None:
            scores[:, :n_keys].masked_fill_(~self.allowed(torch.arange(start, end), n_keys), MINUS_INFINITY)
        scores[:, n_keys:] = MINUS_INFINITY
        if self.causal:
            later = torch.ones(height, height, dtype=torch.bool).triu(1)
            scores[:, start:n_keys].masked_fill_(later, MINUS_INFINITY)
        self.highest = scores.amax(1) if self.sink is None else scores.amax(1).clamp(min=self.sink)
        torch.exp(scores.sub_(self.highest[:, None]), out=weights)
        self.sums = weights.sum(1)
        self.nowhere = torch.zeros_like(self.sums)
        if self.sink is not None:
            self.nowhere = (self.sink - self.highest).exp()
            self.sums = self.sums + self.nowhere
            self.nowhere = self.nowhere / self.sums
        weights.div_(self.sums[:, None])
        self.scores = scores
        return weights

    def describe(self, weights: Tensor, start: int, end: int) -> Rows:
        """The statistics of the rows that were weighed last."""
        at, height = torch.arange(start, end), end - start
        before = weights[torch.arange(height), (at - 1).clamp(min=0)].where(at > 0, 0.0)
        best = weights.view(height, -1, self.run).amax(-1).argmax(-1)
        inside = weights.view(height, -1, self.run)[torch.arange(height), best]
        largest = inside.max(-1)
        return Rows(
            first=weights[:, 0].clone(),
            previous=before,
            distance=self._distance(weights, start, end),
            entropy=(self.sums.log() * (1 - self.nowhere) - torch.linalg.vecdot(weights, self.scores)).clamp(min=0.0),
            strongest=best * self.run + largest.indices,
            largest=largest.values,
            nowhere=self.nowhere,
        )

    @staticmethod
    def _distance(weights: Tensor, start: int, end: int) -> Tensor:
        """Mean distance of the rows, from sums of positive terms only, so that no precision is lost by subtraction."""
        at, keys = torch.arange(start, end), torch.arange(weights.shape[1])
        earlier, later = weights[:, :start], weights[:, end:]
        inside = (weights[:, start:end] * (at[:, None] - at).abs()).sum(1)
        before = torch.linalg.vecdot(earlier, (start - keys[:start]).float()[None]) + earlier.sum(1) * (at - start)
        after = torch.linalg.vecdot(later, (keys[end:] - end).float()[None]) + later.sum(1) * (end - at)
        return inside + before + after
