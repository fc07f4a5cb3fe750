"""Checks of a trace against what must be true of it, for the truth badge: each gives the largest deviation."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.core.heads import MultiHeadTrace


def rows_error(weights: Tensor, masked: Tensor | None = None) -> float:
    """How far a row's sum is from 1; or from 0, where every one of its masked scores is -inf."""
    sums = weights.sum(-1)
    expected = torch.ones_like(sums) if masked is None else (masked > -torch.inf).any(-1).to(sums.dtype)
    return float((sums - expected).abs().max())


def sdpa_error(trace: MultiHeadTrace) -> float:
    """How far any head's output is from torch's own attention on the same q, k and v.

    What lies between the scaled scores and the softmax (mask, bias, soft cap) is handed over as one additive mask.
    """
    reference = scaled_dot_product_attention(
        trace.q, trace.k, trace.v, attn_mask=trace.masked - trace.scaled, scale=trace.scale, enable_gqa=True
    )
    return float((reference - trace.head_outputs).abs().max())


def sum_error(trace: MultiHeadTrace) -> float:
    """How far the output is from the heads laid side by side and multiplied by W_O in one go."""
    bias = 0 if trace.projections.b_o is None else trace.projections.b_o
    return float((trace.concat @ trace.projections.w_o + bias - trace.output).abs().max())


def largest(values: Tensor) -> float:
    """The size of the numbers compared, to judge a deviation by (at least 1)."""
    return max(1.0, float(values[torch.isfinite(values)].abs().max()))
