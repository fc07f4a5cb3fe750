"""Cached results of the page: pooled heads, a layer behind a latent vector, the accuracy of a twin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from viz.core.analysis.checks import largest
from viz.core.analysis.grouped_module import through_module
from viz.core.analysis.map_statistics import total_variation
from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.mistakes.kv_sharing import Tiled
from viz.core.spec import AttentionSpec
from viz.core.variants.layer_sharing import attend_in_layers, attend_to_source
from viz.core.variants.today.latent import LatentWeights
from viz.frame.compute import cached, model, read, trace
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.specs import Mask, Source
from viz.models.kv_sharing import with_fewer, wrongly_shared
from viz.models.trained.twins import Recipe, measure, twin_id

MEASURED_SEED = 10_000
"""Seed of the sequences that ``viz.models.trained.twins.train`` measures on."""

SEEDED_LAYERS = 6
"""Layers of a stack of seeded heads."""


def pooled(source: Source, layer: int, mask: Mask, n_kv_heads: int, mistake: bool = False) -> MultiHeadTrace:
    """Pool a layer's key/value heads into fewer; ``mistake`` shares them out in the wrong order."""
    with torch.inference_mode():
        capture = with_fewer(read(source), n_kv_heads)
        visible = mask.allowed(capture.calls[layer].q.shape[1], capture.calls[layer].k.shape[1])
        return (
            wrongly_shared(capture, layer, allowed=visible) if mistake else capture.multi_head(layer, allowed=visible)
        )


shared = cached(pooled)
"""Cached :func:`pooled` for the selected number. One takes 50 MB for 512 tokens: the others are not cached."""


@cached
def variation_by_head(source: Source, layer: int, mask: Mask, n_kv_heads: int) -> Tensor:
    """Return each head's mean total variation between its rows before and after pooling, (H,)."""
    with torch.inference_mode():
        before, after = trace(source, layer, mask), pooled(source, layer, mask, n_kv_heads)
        return total_variation(after.weights, before.weights).mean(-1)


def with_biases_as_rows(weights: HeadWeights) -> HeadWeights:
    """Return a layer without biases for tokens that end in a number of 1: biases become rows; b_O is left out."""
    s, biases = weights.spec, {name: vars(weights)[f"b_{name}"] for name in "qkv"}
    tensors = {f"w_{name}": vars(weights)[f"w_{name}"].double() for name in "qkvo"}
    added = int(any(bias is not None for bias in biases.values()))
    if added:
        for name, bias in biases.items():
            w = tensors[f"w_{name}"]
            tensors[f"w_{name}"] = torch.cat([w, (w.new_zeros(w.shape[1]) if bias is None else bias.double())[None]])
        tensors["w_o"] = torch.nn.functional.pad(tensors["w_o"], (0, 1))
    sizes = {"n_heads": s.H, "n_kv_heads": s.G, "d_head": s.d_k, "d_value": s.d_v}
    return HeadWeights(spec=AttentionSpec(d_model=s.d_model + added, **sizes), **tensors)


@cached
def latent_layer(source: Source, layer: int) -> tuple[HeadWeights, LatentWeights]:
    """Return a layer without biases in float64, and the same behind a latent vector wide enough to lose nothing."""
    with torch.inference_mode():
        weights = with_biases_as_rows(read(source).multi_head(layer).projections)
        return weights, LatentWeights.from_heads(weights)


@dataclass(frozen=True, kw_only=True)
class ModuleErrors:
    """Errors of a layer's output by the default module and by the one that tiles; the size of its numbers."""

    module: float
    tiled: float
    size: float


@cached
def module_errors(source: Source, layer: int, mask: Mask, n_kv_heads: int) -> ModuleErrors:
    """Compare the layer with this many key/value heads to PyTorch modules with its weights."""
    after = pooled(source, layer, mask, n_kv_heads)
    call = read(source).calls[layer]
    options = with_mask(call.options, mask_by_rule(mask, call.q.shape[1], call.k.shape[1]))
    with torch.inference_mode():
        right, tiled = through_module(after, **options), through_module(after, Tiled, **options)
    return ModuleErrors(
        module=float((right - after.output).abs().max()),
        tiled=float((tiled - right).abs().max()),
        size=largest(after.output),
    )


@dataclass(frozen=True, kw_only=True)
class LayerHeads:
    """Queries, keys and values of a layer, and the options of its attention."""

    q: Tensor
    k: Tensor
    v: Tensor
    options: Mapping[str, Any]


def layer_heads(source: Source, mask: Mask, n_kv_heads: int) -> tuple[LayerHeads, ...]:
    """Return the layers of a model, pooled into ``n_kv_heads``; for seeded heads, a few layers with residuals alone."""
    capture = with_fewer(read(source), n_kv_heads)
    if source.kind == "model":
        return tuple(LayerHeads(q=call.q, k=call.k, v=call.v, options=call.options) for call in capture.calls)
    x, weights = capture.calls[0].x, capture.calls[0].projections
    layers = [weights] + [HeadWeights.random(weights.spec, seed=source.seed + i) for i in range(1, SEEDED_LAYERS)]
    visible = mask.allowed(len(x), len(x))
    masks = None if visible is None else visible.expand(SEEDED_LAYERS, -1, -1)
    with torch.inference_mode():
        traces = attend_in_layers(x, layers, range(SEEDED_LAYERS), allowed=masks)
    return tuple(LayerHeads(q=trace.q, k=trace.k, v=trace.v, options={}) for trace in traces)


@cached
def variation_by_layer(source: Source, mask: Mask, n_kv_heads: int, sources: tuple[int, ...]) -> Tensor:
    """Return each head's mean total variation if each layer reads the keys and values of another, (L, H)."""
    layers, variations = layer_heads(source, mask, n_kv_heads), []
    q, k, v = ([vars(layer)[name] for layer in layers] for name in "qkv")
    with torch.inference_mode():
        for i, layer in enumerate(layers):
            options = with_mask(layer.options, mask.allowed(layer.q.shape[1], layer.k.shape[1]))
            standard, grouped = (
                attend_to_source(q, k, v, reads, i, **options).weights for reads in (range(len(layers)), sources)
            )
            variations.append(total_variation(grouped, standard).mean(-1))
    return torch.stack(variations)


@cached
def twin_accuracy(n_kv_heads: int) -> float:
    """Return a twin's accuracy on the sequences that it was measured on after training."""
    return measure(model(twin_id(n_kv_heads)).model, Recipe(), seed=MEASURED_SEED)[1]
