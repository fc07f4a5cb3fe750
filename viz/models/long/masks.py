"""Attention on a long text under a mask, a soft cap or sinks: some rows at a time, and never all of them at once."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.cancellation import check
from viz.core.attention import row_softmax, softmax_with_sink
from viz.core.long.rows import ScoreMod
from viz.models.attention_interface import RowMask

STRIP, FEWEST = 1 << 22, 16
"""Scores of all heads that are there at once while a layer attends, and the fewest rows of a strip."""


def attend_by_rows(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float,
    causal: bool,
    allowed: RowMask | None,
    score_mod: ScoreMod | None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Attend a strip of rows at a time, to the keys that any of them may look at: (1, H, T, d_v).

    ``q``, ``k``, ``v`` are of one text, (1, H, T, d), with as many key and value heads as query heads; the options are
    those of :func:`viz.core.long.rows.weights_of_rows`, ``sinks`` (H,) for each head.
    """
    n, output = q.shape[2], q.new_empty((*q.shape[:3], v.shape[3]))
    height = max(FEWEST, STRIP // (n * q.shape[1]))
    for start in range(0, n, height):
        check()
        at = torch.arange(start, min(n, start + height))
        may = torch.ones(len(at), n, dtype=torch.bool) if allowed is None else allowed(at, n)
        if causal:
            may = may & (torch.arange(n) <= at[:, None])
        inside = may.any(0).nonzero()[:, 0]
        keys = slice(int(inside[0]), int(inside[-1]) + 1)
        rows, may = q[:, :, at], may[:, keys]
        if score_mod is None and sinks is None:
            strip_output = scaled_dot_product_attention(rows, k[:, :, keys], v[:, :, keys], attn_mask=may, scale=scale)
        else:
            scores = rows @ k[:, :, keys].transpose(-1, -2) * scale
            scores = (scores if score_mod is None else score_mod(scores)).masked_fill(~may, -torch.inf)
            weights = row_softmax(scores) if sinks is None else softmax_with_sink(scores, sinks)
            strip_output = weights @ v[:, :, keys]
        output[:, :, at] = strip_output
    return output
