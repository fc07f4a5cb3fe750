"""One row of one head by another way than the page's, for the live checks."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from viz.core.analysis.checks import scores_rounding, sink_share
from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec
from viz.frame.compute import cached, model, read
from viz.frame.compute.mask_rule import mask_by_rule
from viz.frame.specs import Mask, Source
from viz.models.capture import Call
from viz.models.recount.own_attention import has_own_attention, own_row

LEAST = 1e-12
"""Weight that a mask must leave of a row for the row to be compared: below it float32 has lost what stood there."""

MOST_ROUNDED = 0.05
"""Weight that rounding may move in a row of scores of thousands."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of one head of a layer, (K,), by another way than the page's, and what it hands on, if that is known.

    ``head_output`` (d_v,) is the head's own output in this row, or ``output`` (d_out,) that of all heads behind W_O.
    """

    weights: Tensor
    head_output: Tensor | None = None
    output: Tensor | None = None


def has_own_row(source: Source) -> bool:
    """Return True if a row of this source's heads can be recomputed: of seeded heads, and of a model on one text."""
    return source.kind != "model" or (not source.target and has_own_attention(model(source.model)))


@cached
def row_of(source: Source, layer: int, mask: Mask, head: int, row: int) -> Row:
    """One row of a head: by transformers' own attention where it is a model's, by NumPy where the heads are seeded."""
    text_capture = read(source)
    if source.kind == "model":
        weights, output = own_row(model(source.model), text_capture, layer, head, row)
        if mask.kind == "own":
            return Row(weights=weights, output=output)
        return Row(weights=_among(weights, mask, text_capture.calls[layer], head, row))
    return _seeded_row(source, text_capture.calls[layer], mask, head, row)


def _open_keys(mask: Mask, call: Call, row: int) -> Tensor:
    is_open = mask_by_rule(mask, call.q.shape[1], call.k.shape[1])
    return torch.ones(call.k.shape[1], dtype=torch.bool) if is_open is None else is_open[row]


def _among(weights: Tensor, mask: Mask, call: Call, head: int, row: int) -> Tensor:
    """Return a row of weights under a further mask, divided by its sum; NaN where float32 has rounded the sum to 0."""
    is_open = _open_keys(mask, call, row)
    layer_mask = call.options.get("allowed")
    if layer_mask is not None:
        is_open = is_open & layer_mask.expand(call.q.shape[0], *layer_mask.shape[-2:])[head, row]
    remaining = weights * is_open
    total = remaining.sum()
    # No mask closes the sink.
    if (sink_weight := sink_share(call.q, call.k, **call.options)) is not None:
        total = total + sink_weight[head, row].to(total.dtype)
    if not is_open.any():
        return remaining
    return remaining / total if float(total) > LEAST else torch.full_like(remaining, torch.nan)


def _seeded_row(source: Source, call: Call, mask: Mask, head: int, row: int) -> Row:
    """A row of seeded heads in float64, from their vectors and from weights drawn anew."""
    x, memory = call.x.double().numpy(), call.memory.double().numpy()
    spec = AttentionSpec(d_model=x.shape[1], n_heads=source.n_heads, n_kv_heads=source.n_kv_heads)
    weights, group = HeadWeights.random(spec, seed=source.seed), head * spec.G // spec.H
    w_q, w_k, w_v = (w.double().numpy() for w in (weights.w_q, weights.w_k, weights.w_v))
    query_columns, key_columns = (
        slice(head * spec.d_k, (head + 1) * spec.d_k),
        slice(group * spec.d_k, (group + 1) * spec.d_k),
    )
    scores = (memory @ w_k[:, key_columns]) @ (x[row] @ w_q[:, query_columns]) / np.sqrt(spec.d_k)
    is_open = _open_keys(mask, call, row).numpy()
    shares = (
        np.where(is_open, np.exp(scores - scores[is_open].max(initial=-np.inf)), 0.0) if is_open.any() else scores * 0
    )
    shares = shares / max(shares.sum(), 1e-300)
    values = memory @ w_v[:, group * spec.d_v : (group + 1) * spec.d_v]
    return Row(weights=torch.from_numpy(shares), head_output=torch.from_numpy(shares @ values))


def row_error(row: Row, weights: Tensor) -> float:
    """Return how far weights that are shown, (K,), are from a row computed by another way."""
    off = (row.weights - weights).abs()
    return 0.0 if bool(row.weights.isnan().all()) else float(off.max())


def row_tolerance(call: Call, head: int, row: int) -> float:
    """Return how far a row of a layer may be off: large scores are rounded more, and each rounds in its own way."""
    lost = scores_rounding(call.q, call.k, call.options.get("scale"))[head, row]
    return 1e-4 + min(MOST_ROUNDED, 4 * float(lost))
