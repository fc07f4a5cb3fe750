"""Split scores by other routes: the logarithms of a model's own weights, and a head's rows of W_O carried forward."""

import torch
from torch import Tensor

from viz.core.analysis.score_parts import Amounts, ScoringHead
from viz.models.capture import Capture
from viz.models.layout import LoadedModel, linear
from viz.models.recount.own_attention import own_heads


def contrast_by_weights(model: LoadedModel, capture: Capture, layer: int, head: int, query: int, c: Tensor) -> float:
    """A sum of scores with weights c that add up to 0, of the model's own attention: the softmax's sum cancels."""
    keys = c.nonzero().flatten()
    # Of less than the least number that float32 has in full a logarithm says too little.
    rows = own_heads(model, capture, layer)[0][head, query, keys].double().clamp(min=torch.finfo(torch.float32).tiny)
    return float(rows.log() @ c[keys])


def head_by_rows(
    model: LoadedModel, capture: Capture, scoring: ScoringHead, query: int, c: Tensor, amounts: Amounts, seed: int
) -> tuple[float, str]:
    """Error of one head's amount at the query, from its own rows of W_O on through each norm, and its name."""
    heads = [part for part in amounts if part.kind == "head"]
    part = heads[seed % len(heads)]
    z = own_heads(model, capture, part.layer)[1][query, part.head].double()
    rows = linear(model.layers[part.layer].output)[0].double()
    x, is_behind = z @ rows[part.head * len(z) : (part.head + 1) * len(z)], False
    for step in scoring.steps:
        is_behind |= step.part == part
        if is_behind and step.norm is not None:
            stream = step.x[query].double()
            mean = (x.mean(), stream.mean()) if scoring.is_centred else (0.0, 0.0)
            x = step.norm.gain * (x - mean[0]) / ((stream - mean[1]).square().mean() + step.norm.eps).sqrt()
    q = x @ scoring.w_q.double()
    q = q if scoring.turns is None else q @ scoring.turns[query].double()
    keys = (c @ scoring.k.double()) * scoring.scale
    return abs(float(q @ keys) - amounts[part]), f"{part.layer}.{part.head}"
