"""START HERE. Attention, one step at a time, every step kept."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.freed_memory import keep_freed_memory

ScoreMod = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class AttentionTrace:
    """Every step of :func:`attend`, in order of computation.

    ``allowed`` is None where every query may look everywhere. ``masked`` is what the softmax sees: scaled, with the
    bias if there is one, -inf where a query may not look. ``output`` has one row of width d_v for each query and head.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    scale: float
    allowed: Tensor | None
    scores: Tensor
    scaled: Tensor
    masked: Tensor
    weights: Tensor
    output: Tensor

    def __post_init__(self) -> None:
        keep_freed_memory()


def row_softmax(masked: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q K"]:
    r"""Turn each row of scores into shares of one.

    .. math:: A_{ij} = e^{s_{ij}} / \sum_m e^{s_{im}}

    A row that is -inf everywhere has nothing to share and becomes 0 (as in
    ``F.scaled_dot_product_attention``); the bare formula would give NaN in every cell.

    Example:
        >>> row_softmax(torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]]))
        tensor([[0.5000, 0.5000],
                [0.0000, 0.0000]])
    """
    weights = torch.softmax(masked, dim=-1)
    suspects = weights[..., :1].isnan()
    if not suspects.any():
        return weights
    return weights.masked_fill(suspects & (masked.amax(dim=-1, keepdim=True) == -torch.inf), 0.0)


def softmax_with_sink(masked: Float[Tensor, "*B H Q K"], sink: Float[Tensor, "H *rows"]) -> Float[Tensor, "*B H Q K"]:
    r"""Turn each row of scores into shares of which a sink, no word, takes one: a row sums to less than 1.

    .. math:: A_{ij} = e^{s_{ij}} / (e^{b_h} + \sum_m e^{s_{im}})

    OpenAI 2025, gpt-oss: each head has learned one score :math:`b_h` for looking nowhere; a ``sink`` of two axes has
    one for each of its rows. With :math:`b_h = -\infty` it is :func:`row_softmax`.

    Example:
        >>> softmax_with_sink(torch.zeros(1, 1, 3), torch.zeros(1))
        tensor([[[0.2500, 0.2500, 0.2500]]])
    """
    nowhere = sink.reshape(len(sink), -1, 1).expand(*masked.shape[:-1], 1)
    return row_softmax(torch.cat([masked, nowhere], dim=-1))[..., :-1]


def options_of_first(options: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return the options of :func:`attend` for the first n tokens: maps are cut; a sink, one number a head, is not."""
    return {
        name: value[..., :n, :n] if isinstance(value, Tensor) and name != "sink" else value
        for name, value in options.items()
    }


def attend(
    q: Float[Tensor, "*B Q d_k"],
    k: Float[Tensor, "*B K d_k"],
    v: Float[Tensor, "*B K d_v"],
    *,
    allowed: Bool[Tensor, "*M #Q #K"] | None = None,
    bias: Float[Tensor, "*A #Q #K"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
    sink: Float[Tensor, "H *rows"] | None = None,
) -> AttentionTrace:
    r"""Attend from every query to every key, and keep each step.

    .. math:: \operatorname{softmax}(q k^\top / \sqrt{d_k})\, v

    Vaswani et al. 2017, eq. 1. Scores are logits (no unit); a row of ``weights`` sums to 1,
    or to 0 when its query may look nowhere (softmax alone would give NaN).

    Args:
        q: queries, already projected and split into heads.
        k: keys, likewise.
        v: values, likewise.
        allowed: True where a query may look, as in ``F.scaled_dot_product_attention``;
            ``nn.MultiheadAttention`` means the opposite. An axis of size 1 holds for all (padding's does).
        bias: added to the scaled scores (a position's own opinion, say).
        scale: what the scores are multiplied by; None means 1/sqrt(d_k).
        score_mod: applied to the scaled scores before ``bias``, e.g. Gemma 2's soft cap.
        sink: each head's score for looking nowhere (:func:`softmax_with_sink`), never scaled or masked.

    Example:
        A query that matches no key spreads its weight evenly.

        >>> k = v = torch.eye(2)
        >>> attend(torch.zeros(1, 2), k, v).weights
        tensor([[0.5000, 0.5000]])
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT
    scaled = scores * scale
    masked = scaled if score_mod is None else score_mod(scaled)
    masked = masked if bias is None else masked + bias
    masked = masked if allowed is None else masked.masked_fill(~allowed, -torch.inf)
    weights = row_softmax(masked) if sink is None else softmax_with_sink(masked, sink)
    output = weights @ v
    return AttentionTrace(
        q=q,
        k=k,
        v=v,
        scale=scale,
        allowed=allowed,
        scores=scores,
        scaled=scaled,
        masked=masked,
        weights=weights,
        output=output,
    )
