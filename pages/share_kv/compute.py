"""What the page computes and keeps: pooled heads, how long a step of decoding takes, how often a twin is right."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from viz.core.analysis.checks import largest
from viz.core.analysis.grouped_module import through_module
from viz.core.analysis.map_statistics import total_variation
from viz.core.cost.decode_timing import DecodePlan, decode_seconds
from viz.core.heads import MultiHeadTrace
from viz.core.mistakes.kv_sharing import Tiled
from viz.frame.checks import with_mask
from viz.frame.compute import kept, model, read, results, trace
from viz.frame.compute.mask_rule import written_out
from viz.frame.specs import Mask, Source
from viz.frame.waiting import until
from viz.models.kv_sharing import with_fewer, wrongly_shared
from viz.models.trained.twins import Recipe, measure, twin_id
from viz.scheduler.cache import Kept

MEASURED_SEED = 10_000
"""Of the sequences that ``viz.models.trained.twins.train`` measures on."""


def pooled(source: Source, layer: int, mask: Mask, n_kv_heads: int, mistake: bool = False) -> MultiHeadTrace:
    """A layer whose key/value heads are pooled into fewer; ``mistake`` shares them out in the wrong order."""
    with torch.inference_mode():
        seen = with_fewer(read(source), n_kv_heads)
        allowed = mask.allowed(seen.calls[layer].q.shape[1], seen.calls[layer].k.shape[1])
        return wrongly_shared(seen, layer, allowed=allowed) if mistake else seen.multi_head(layer, allowed=allowed)


shared = kept(pooled)
"""As :func:`pooled`, kept, for the number that is looked at. Of 512 tokens one takes 50 MB: the others are not kept."""


@kept
def moved(source: Source, layer: int, mask: Mask, n_kv_heads: int) -> Tensor:
    """How far each head's rows are from what they were before heads were pooled: the mean total variation, (H,)."""
    with torch.inference_mode():
        before, after = trace(source, layer, mask), pooled(source, layer, mask, n_kv_heads)
        return total_variation(after.weights, before.weights).mean(-1)


@dataclass(frozen=True, kw_only=True)
class ModuleErrors:
    """How far a layer's output is off by the usual module, and by the one that tiles; the size of its numbers."""

    module: float
    tiled: float
    size: float


@kept
def module_errors(source: Source, layer: int, mask: Mask, n_kv_heads: int) -> ModuleErrors:
    """The layer with so many key/value heads, against PyTorch modules with its weights in them."""
    after = pooled(source, layer, mask, n_kv_heads)
    call = read(source).calls[layer]
    asked = with_mask(call.options, written_out(mask, call.q.shape[1], call.k.shape[1]))
    with torch.inference_mode():
        right, tiled = through_module(after, **asked), through_module(after, Tiled, **asked)
    return ModuleErrors(
        module=float((right - after.output).abs().max()),
        tiled=float((tiled - right).abs().max()),
        size=largest(after.output),
    )


@partial(Kept, store=results, kind="measure", wait=until)
def decode_time(plan: DecodePlan, n_kv_heads: int) -> float:
    """Seconds a step of decoding takes on this machine, measured once for everybody."""
    return decode_seconds(plan, n_kv_heads)


@kept
def twin_accuracy(n_kv_heads: int) -> float:
    """How often a twin is right now, on the fresh sequences that it was measured on when it had been trained."""
    return measure(model(twin_id(n_kv_heads)).model, Recipe(), seed=MEASURED_SEED)[1]
