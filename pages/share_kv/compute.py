"""What the page computes and keeps: pooled heads, how long a step of decoding takes, how often a twin is right."""

from functools import partial

import torch

from viz.core.cost.decode_timing import DecodePlan, decode_seconds
from viz.core.heads import MultiHeadTrace
from viz.frame.compute import kept, model, read, results
from viz.frame.specs import Mask, Source
from viz.frame.waiting import until
from viz.models.kv_sharing import with_fewer, wrongly_shared
from viz.models.trained.twins import Recipe, measure, twin_id
from viz.scheduler.cache import Kept

MEASURED_SEED = 10_000
"""Of the sequences that ``viz.models.trained.twins.train`` measures on."""


@kept
def shared(source: Source, layer: int, mask: Mask, n_kv_heads: int, mistake: bool = False) -> MultiHeadTrace:
    """A layer whose key/value heads are pooled into fewer; ``mistake`` shares them out in the wrong order."""
    with torch.inference_mode():
        seen = with_fewer(read(source), n_kv_heads)
        allowed = mask.allowed(seen.calls[layer].q.shape[1], seen.calls[layer].k.shape[1])
        return wrongly_shared(seen, layer, allowed=allowed) if mistake else seen.multi_head(layer, allowed=allowed)


@partial(Kept, store=results, kind="measure", wait=until)
def decode_time(plan: DecodePlan, n_kv_heads: int) -> float:
    """Seconds a step of decoding takes on this machine, measured once for everybody."""
    return decode_seconds(plan, n_kv_heads)


@kept
def twin_accuracy(n_kv_heads: int) -> float:
    """How often a twin is right now, on the fresh sequences that it was measured on when it had been trained."""
    return measure(model(twin_id(n_kv_heads)).model, Recipe(), seed=MEASURED_SEED)[1]
