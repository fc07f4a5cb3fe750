"""Attention done wrong on purpose, to see what each part is for."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.analysis.map_statistics import entropy, jacobian_norm
from viz.core.attention import AttentionTrace, ScoreMod, attend, row_softmax


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Faults of a layer: no scaling, no mask, a softmax down the columns, a temperature other than 1."""

    no_scale: bool = False
    no_mask: bool = False
    wrong_axis: bool = False
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature={self.temperature} must be above 0")

    @property
    def none(self) -> bool:
        """True if there is no fault."""
        return self == Faults()


def column_softmax(masked: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q K"]:
    """The wrong axis: each column sums to 1, so that keys share out their queries.

    Example:
        >>> column_softmax(torch.tensor([[0.0, 7.0], [0.0, 7.0]]))
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    return row_softmax(masked.mT).mT


def attend_wrongly(
    q: Float[Tensor, "*B Q d_k"],
    k: Float[Tensor, "*B K d_k"],
    v: Float[Tensor, "*B K d_v"],
    faults: Faults,
    *,
    scale: float,
    allowed: Bool[Tensor, "*M Q K"] | None = None,
    bias: Float[Tensor, "*A Q K"] | None = None,
    score_mod: ScoreMod | None = None,
) -> AttentionTrace:
    r"""``attend`` with these faults; with none of them, exactly ``attend``.

    A temperature t divides all that the softmax sees, soft cap and bias included:
    :math:`\operatorname{softmax}(s / t)`, sharper below 1, flatter above.

    Example:
        >>> one = torch.ones(2, 1)
        >>> allowed = torch.tensor([[True, False], [True, True]])
        >>> attend_wrongly(one, one, one, Faults(no_mask=True), scale=1.0, allowed=allowed).weights[0]
        tensor([0.5000, 0.5000])
    """
    t = faults.temperature

    def tempered(scaled: Tensor) -> Tensor:
        return (scaled if score_mod is None else score_mod(scaled)) / t

    trace = attend(
        q,
        k,
        v,
        scale=1.0 if faults.no_scale else scale,
        allowed=None if faults.no_mask else allowed,
        bias=None if bias is None else bias / t,
        score_mod=tempered,
    )
    if not faults.wrong_axis:
        return trace
    weights = column_softmax(trace.masked)
    return replace(trace, weights=weights, output=weights @ v)


@dataclass(frozen=True, kw_only=True)
class RowMeasures:
    """Measures of each row: its ``total``, its ``largest`` weight, and, where it sums to 1, its ``entropy`` in
    nats and the norm of the softmax's ``jacobian`` (NaN elsewhere: such a row is no distribution).
    """

    total: Tensor
    largest: Tensor
    entropy: Tensor
    jacobian: Tensor


def measure_rows(weights: Float[Tensor, "*B Q K"]) -> RowMeasures:
    """Measure every row of a map.

    Example:
        >>> measure_rows(torch.tensor([[0.5, 0.5], [0.5, 1.0]])).entropy
        tensor([0.6931,    nan])
    """
    total = weights.sum(-1)
    proper = (total - 1).abs() < 1e-3
    return RowMeasures(
        total=total,
        largest=weights.amax(-1),
        entropy=entropy(weights).where(proper, torch.nan),
        jacobian=jacobian_norm(weights).where(proper, torch.nan),
    )


def split_without_transpose(x: Float[Tensor, "*B T width"], n_heads: int) -> Float[Tensor, "*B heads T d"]:
    """The shape of :func:`~viz.core.heads.split_heads` by a view alone: each head is handed a few whole words.

    The numbers are cut up in the order in which they lie in memory, word after word; nothing raises.

    Example:
        Two words of four numbers: head 0 gets all of the first word, head 1 all of the second.

        >>> split_without_transpose(torch.tensor([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]), 2).tolist()
        [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]
    """
    T, width = x.shape[-2:]
    return x.reshape(*x.shape[:-2], n_heads, T, width // n_heads)
