"""One head taken out of a layer, and one cell of its map calculated by hand."""

from dataclasses import dataclass

import torch
from torch import Tensor

from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.spec import AttentionSpec


def group_of(spec: AttentionSpec, head: int) -> int:
    r"""Key/value head that a query head uses: :math:`g(i) = \lfloor i G / H \rfloor`, as in ``share_kv``.

    Example:
        >>> [group_of(AttentionSpec(d_model=8, n_heads=4, n_kv_heads=2), i) for i in range(4)]
        [0, 0, 1, 1]
    """
    return head * spec.G // spec.H


def alone(weights: HeadWeights, head: int) -> HeadWeights:
    """A layer of one head: its columns of W_Q, its key/value head's of W_K and W_V, its rows of W_O.

    ``b_o`` belongs to the layer, not to a head, and is left out.

    Example:
        >>> alone(HeadWeights.random(AttentionSpec(d_model=6, n_heads=3), seed=0), 2).w_q.shape
        torch.Size([6, 2])
    """
    s, g = weights.spec, group_of(weights.spec, head)
    spec = AttentionSpec(d_model=s.d_model, n_heads=1, d_head=s.d_k, d_value=s.d_v, d_memory=s.d_mem, d_output=s.d_out)
    queries = slice(head * s.d_k, (head + 1) * s.d_k)
    keys, values = slice(g * s.d_k, (g + 1) * s.d_k), slice(g * s.d_v, (g + 1) * s.d_v)
    rows = slice(head * s.d_v, (head + 1) * s.d_v)

    def part(bias: Tensor | None, columns: slice) -> Tensor | None:
        return None if bias is None else bias[columns]

    return HeadWeights(
        spec=spec,
        w_q=weights.w_q[:, queries],
        w_k=weights.w_k[:, keys],
        w_v=weights.w_v[:, values],
        w_o=weights.w_o[rows],
        b_q=part(weights.b_q, queries),
        b_k=part(weights.b_k, keys),
        b_v=part(weights.b_v, values),
    )


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Everything between q_i, k_j and their weight, and what row i of the output is made of.

    The trace's own numbers: ``q`` and ``k`` (d_k), ``score``, ``scaled``, ``masked``, its ``row`` of masked scores
    (K), ``weight``, ``weights`` (K), ``values`` (K, d_v), ``output`` (d_v). What no trace keeps is computed here in
    float64: the ``terms`` of the dot product, the row's ``peak``, which is subtracted so that no exponential
    overflows, the exponentials ``exps`` and their ``total``, and the ``parts`` A_im v_m (K, d_v) of the output.
    """

    q: Tensor
    k: Tensor
    terms: Tensor
    score: float
    scaled: float
    masked: float
    row: Tensor
    peak: float
    exps: Tensor
    total: float
    weight: float
    weights: Tensor
    values: Tensor
    parts: Tensor
    output: Tensor

    @property
    def fully_masked(self) -> bool:
        """True if the query may look at no key; then every weight is 0."""
        return self.peak == -torch.inf

    @property
    def score_error(self) -> float:
        """Deviation of the summed terms from the trace's score."""
        return abs(float(self.terms.sum()) - self.score)

    @property
    def weight_error(self) -> float:
        """Deviation of the row's exponentials over their total from the trace's weights."""
        shares = self.exps / self.total if self.total else self.exps
        return float((shares - self.weights).abs().max())

    @property
    def output_error(self) -> float:
        """Deviation of the weighted sum from the trace's output."""
        return float((self.parts.sum(0) - self.output).abs().max())


def by_hand(trace: MultiHeadTrace, head: int, query: int, key: int) -> Cell:
    r"""Calculate one cell of one head as one would on paper.

    .. math:: q_i \cdot k_j = \sum_c q_{ic} k_{jc}, \quad A_{ij} = e^{s_{ij} - m_i} / \sum_m e^{s_{im} - m_i}, \quad
              z_i = \sum_m A_{im} v_m

    where :math:`m_i` is the largest score of row i: subtracting it changes nothing but keeps the numbers small.
    """
    group = group_of(trace.projections.spec, head)
    q, k, values = trace.q[head, query], trace.k[group, key], trace.v[group]
    row, weights = trace.masked[head, query], trace.weights[head, query]
    peak = float(row.max())
    exps = (row.double() - peak).exp() if peak > -torch.inf else torch.zeros_like(row, dtype=torch.float64)
    return Cell(
        q=q,
        k=k,
        terms=q.double() * k.double(),
        score=float(trace.scores[head, query, key]),
        scaled=float(trace.scaled[head, query, key]),
        masked=float(row[key]),
        row=row,
        peak=peak,
        exps=exps,
        total=float(exps.sum()),
        weight=float(weights[key]),
        weights=weights,
        values=values,
        parts=weights.double()[:, None] * values.double(),
        output=trace.head_outputs[head, query],
    )
