"""Split scores by other routes: the logarithms of a model's own weights, and a head's rows of W_O carried forward."""

import torch
from torch import Tensor

from viz.core.analysis.score_parts import Part, ScoringHead
from viz.models.capture import Capture, Head
from viz.models.layout import LoadedModel, linear
from viz.models.recount.own_attention import own_heads


def contrast_by_weights(model: LoadedModel, capture: Capture, at: Head, query: int, c: Tensor) -> float:
    """A sum of scores with weights c that add up to 0, of the model's own attention: the softmax's sum cancels."""
    keys = c.nonzero().flatten()
    # Of less than the least number that float32 has in full a logarithm says too little.
    rows = own_heads(model, capture, at[0])[0][at[1], query, keys].double().clamp(min=torch.finfo(torch.float32).tiny)
    return float(rows.log() @ c[keys].double())


def head_by_rows(
    model: LoadedModel, capture: Capture, scoring: ScoringHead, query: int, c: Tensor, part: Part
) -> float:
    """Amount of a head at the query, from its own rows of W_O on through each norm, whose scale is measured anew."""
    z = own_heads(model, capture, part.layer)[1][query, part.head].double()
    rows = linear(model.layers[part.layer].output)[0].double()
    x, stream, is_behind = z @ rows[part.head * len(z) : (part.head + 1) * len(z)], torch.zeros(1).double(), False
    for step in scoring.steps:
        is_behind |= part in step.parts
        if step.norm is None:
            stream = stream + step.x[query].double().sum(0)
        else:
            scale = (scoring.centre(stream).square().mean() + step.norm.eps).rsqrt()
            x = step.norm.gain * scoring.centre(x) * scale if is_behind else x
            stream = scoring.normalize(stream, step.norm)
    q = x @ scoring.w_q.double()
    q = q if scoring.turns is None else q @ scoring.turns[query].double()
    return float(q @ (c @ scoring.k).double()) * scoring.scale
