"""Mistakes in attention as it is deployed today."""

from dataclasses import replace

import torch

from pages.attention_today import compressed as compressed_today
from pages.attention_today import compute as today_compute
from pages.attention_today import trained as trained_today
from tests.pages.faults.fault import Fault
from viz.core import attention, heads, masks
from viz.core.cost import mixed
from viz.core.variants import encodings, layer_sharing
from viz.core.variants.residual import depth, streams
from viz.core.variants.today import (
    angles,
    bounded_scores,
    chosen_blocks,
    compressed,
    delta,
    differential,
    dilution,
    exclusive,
    gates,
    interleaved,
    latent,
    linear,
    rolling,
    selection,
    sinks,
)
from viz.models.trained.today import modules as today_modules
from viz.models.trained.today import summary as today_summary
from viz.models.trained.today import train as today_train

FAULTS = {
    "a sink twice as strong": Fault(
        function=attention.softmax_with_sink,
        wrong=lambda right, masked, sink: right(masked, sink + 0.7),
        places=("to nobody",),
    ),
    "a sink's gate with the wrong sign": Fault(
        function=sinks.word_share,
        wrong=lambda right, masked, sink: 1 - right(masked, sink),
        places=("to nobody", "who uses what"),
    ),
    "off by two": Fault(
        function=sinks.softmax_off_by_one,
        wrong=lambda right, masked: right(masked - 0.7),
        places=("to nobody",),
    ),
    "a norm without its root": Fault(
        function=bounded_scores.norm_queries_and_keys,
        wrong=lambda right, q, k, norm, **options: tuple(3 * x for x in right(q, k, norm, **options)),
        places=("tamed scores", "who uses what"),
    ),
    "a cap that is twice as high": Fault(
        function=bounded_scores.soft_cap, wrong=lambda right, cap: right(2 * cap), places=("tamed scores",)
    ),
    "a gate that never opens fully": Fault(
        function=gates.output_gate,
        wrong=lambda right, *args, **options: 0.9 * right(*args, **options),
        places=("output gate", "who uses what"),
    ),
    "a gate after W_O": Fault(
        function=heads.merge_heads,
        wrong=lambda right, *args, gate=None, **options: right(*args, **options),
        places=("output gate",),
    ),
    "a difference with the wrong sign of λ": Fault(
        function=differential.attend_differential,
        wrong=lambda right, *args, share, **options: right(*args, share=-share, **options),
        places=("difference of two maps",),
    ),
    "the second map in place of the first": Fault(
        function=differential.attend_differential,
        wrong=lambda right, a, b, c, d, v, **options: right(c, d, a, b, v, **options),
        places=("difference of two maps", "who uses what"),
    ),
    "a map that fades too fast": Fault(
        function=linear.linear_map,
        wrong=lambda right, q, k, steps: right(q, k, 2 * steps - 0.1),
        places=("linear attention", "who uses what"),
    ),
    "a delta rule that corrects nothing": Fault(
        function=delta.delta_states,
        wrong=lambda right, *args, corrects=True, **options: right(*args, corrects=False, **options),
        places=("delta rule",),
    ),
    "a delta rule with keys that are too long": Fault(
        function=delta.to_unit_length,
        wrong=lambda right, x, **options: 1.5 * right(x, **options),
        places=("delta rule", "linear attention"),
    ),
    "an absorbed form that scales by the longer key": Fault(
        function=latent.attend_absorbed,
        wrong=lambda right, x, weights, **options: right(x, replace(weights, w_q=0.9 * weights.w_q), **options),
        places=("latent vector", "latent vector, a model"),
    ),
    "a latent vector's W_UV where W_UK belongs": Fault(
        function=latent.attend_absorbed,
        wrong=lambda right, x, weights, **options: right(
            x, replace(weights, w_up_k=weights.w_up_v, w_up_v=weights.w_up_k), **options
        ),
        places=("latent vector", "latent vector, a model"),
    ),
    "a latent vector without the mask": Fault(
        function=latent.attend_latent,
        wrong=lambda right, x, weights, *, allowed=None, **options: right(x, weights, **options),
        places=("latent vector",),
    ),
    "a latent cache a tenth too small": Fault(
        function=latent.latent_cache,
        wrong=lambda right, x, weights, **options: tuple(0.9 * part for part in right(x, weights, **options)),
        places=("latent vector", "latent vector, a model"),
    ),
    "a group that reads its last layer": Fault(
        function=layer_sharing.grouped_sources,
        wrong=lambda right, n_layers, size: tuple(min(source + size, n_layers) - 1 for source in right(n_layers, size)),
        places=("across layers", "across layers, a model"),
    ),
    "the last layers read the first one": Fault(
        function=layer_sharing.kv_sources,
        wrong=lambda right, kinds, n_shared: right(kinds, n_shared)[: len(kinds) - n_shared] + (0,) * n_shared,
        places=("across layers",),
    ),
    "another layer's keys with values of its own": Fault(
        function=layer_sharing.attend_to_source,
        wrong=lambda right, q, k, v, sources, layer, **options: right(
            q, k, [v[layer]] * len(v), sources, layer, **options
        ),
        places=("across layers", "across layers, a model"),
    ),
    "a layer that shares without its mask": Fault(
        function=layer_sharing.attend_to_source,
        wrong=lambda right, q, k, v, sources, layer, **options: right(
            q, k, v, sources, layer, **(options | {"allowed": None})
        ),
        places=("across layers",),
    ),
    "a layer that reads and keeps all the same": Fault(
        function=mixed.SharedKVCost.cache_numbers,
        wrong=lambda right, cost, n: cost.layer.cache_numbers(n),
        places=("across layers", "across layers, a model", "models of today"),
    ),
    "queries of the layer whose keys are read": Fault(
        function=layer_sharing.attend_to_source,
        wrong=lambda right, q, k, v, sources, layer, **options: right(
            [q[source] for source in sources], k, v, sources, layer, **options
        ),
        places=("across layers", "across layers, a model"),
    ),
    "a cache that drops one token too many": Fault(
        function=rolling.decode_in_window,
        wrong=lambda right, q, k, v, *, size, **options: right(q, k, v, size=max(1, size - 1), **options),
        places=("windows in the cache", "windows in the cache, a model"),
    ),
    "a cache that drops the newest": Fault(
        function=rolling.cached_tokens,
        wrong=lambda right, n_read, n_tokens, full, *, size: right(max(0, n_read - 1), n_tokens, full, size=size),
        places=("windows in the cache", "windows in the cache, a model"),
    ),
    "a window that is counted one token too wide": Fault(
        function=mixed.WindowCost.cache_numbers,
        wrong=lambda right, cost, n: mixed.FullCost(spec=cost.spec).cache_numbers(min(n, cost.size + 1)),
        places=("windows in the cache", "windows in the cache, a model", "models of today"),
    ),
    "decoding in a window without the scale": Fault(
        function=rolling.decode_in_window,
        wrong=lambda right, q, k, v, **options: right(q, k, v, **(options | {"scale": 1.0})),
        places=("windows in the cache", "windows in the cache, a model"),
    ),
    "a latent cache without its key for RoPE": Fault(
        function=mixed.LatentCost.cache_numbers,
        wrong=lambda right, cost, n: n * cost.spec.d_latent,
        places=("models of today",),
    ),
    "a state that grows with the text": Fault(
        function=mixed.LinearCost.cache_numbers,
        wrong=lambda right, cost, n: n * cost.n_heads * cost.d_k,
        places=("models of today",),
    ),
    "a window one token too wide": Fault(
        function=masks.look_back,
        wrong=lambda right, n_queries, n_keys, size: right(n_queries, n_keys, size + 1),
        places=("layers with windows",),
    ),
    "chunks that are windows": Fault(
        function=masks.chunks,
        wrong=lambda right, n_queries, n_keys, size: masks.look_back(n_queries, n_keys, size),
        places=("layers with chunks",),
    ),
    "the first layer full in place of the last": Fault(
        function=interleaved.full_layers,
        wrong=lambda right, n_layers, *, period, starts_full=False: right(n_layers, period=period + 1),
        places=("layers, 1 to 1", "windows in the cache", "windows in the cache, a model", "models of today"),
    ),
    "a reach of w tokens a layer": Fault(
        function=interleaved.earliest_token,
        wrong=lambda right, query, full, *, size, near: right(query, full, size=size + 1, near=near),
        places=("layers with windows", "layers with chunks"),
    ),
    "small decoders without their sinks": Fault(
        function=today_modules.SinkAttention.attend,
        wrong=lambda right, self, q, k, v: today_modules.StandardAttention.attend(self, q, k, v),
        places=("small decoders",),
    ),
    "small decoders whose layers know no position": Fault(
        function=today_modules.turn, wrong=lambda right, x: x, places=("small decoders",)
    ),
    "a mean over seeds that is the lowest": Fault(
        function=today_summary.summarise,
        wrong=lambda right, runs: {name: replace(spread, mean=spread.low) for name, spread in right(runs).items()},
        places=("small decoders",),
    ),
    "a record by another recipe": Fault(
        function=today_train.digest,
        wrong=lambda right, recipe: right(replace(recipe, learning_rate=1e-3)),
        places=("small decoders",),
    ),
    "small decoders counted without a head's numbers": Fault(
        function=trained_today.parameters_by_formula,
        wrong=lambda right, code: right(code) - 1,
        places=("small decoders",),
    ),
    "the last numbers turn": Fault(
        function=angles.partial_rope,
        wrong=lambda right, x, rotary_dim, **options: right(x.flip(-1), rotary_dim, **options).flip(-1),
        places=("positions of today",),
    ),
    "all numbers turn but two": Fault(
        function=angles.partial_rope,
        wrong=lambda right, x, rotary_dim, *, omega, **options: right(
            x, max(0, rotary_dim - 2), omega=omega[:-1], **options
        ),
        places=("positions of today", "positions of today, all turn"),
    ),
    "YaRN's ramp turned round": Fault(
        function=angles.yarn_ramp,
        wrong=lambda right, *args, **options: 1 - right(*args, **options),
        places=("positions of today",),
    ),
    "a ramp that ends where a pair turns twice": Fault(
        function=angles.yarn_ramp,
        wrong=lambda right, *args, **options: right(*args, **options | {"slow": 2.0}),
        places=("positions of today",),
    ),
    "a ramp between no whole pairs": Fault(
        function=angles.yarn_ramp,
        wrong=lambda right, *args, **options: right(*args, **options | {"rounds": False}),
        places=("positions of today",),
    ),
    "every pair stretched": Fault(
        function=angles.yarn_frequencies,
        wrong=lambda right, *args, factor, **options: right(*args, factor=1.0, **options) / factor,
        places=("positions of today",),
    ),
    "speeds of another base": Fault(
        function=angles.yarn_frequencies,
        wrong=lambda right, *args, base, **options: right(*args, base=2 * base, **options),
        places=("positions of today", "positions of today, all turn"),
    ),
    "YaRN's gain on queries alone": Fault(
        function=angles.yarn_gain,
        wrong=lambda right, factor: right(factor) ** 0.5,
        places=("positions of today",),
    ),
    "a temperature that rises a token late": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, **options: right(positions - 1, **options),
        places=("without positions",),
    ),
    "a temperature twice as strong": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, *, gain, **options: right(positions, gain=2 * gain, **options),
        places=("without positions",),
    ),
    "a temperature without its gain": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, *, gain, **options: right(positions, gain=0.1, **options),
        places=("without positions",),
    ),
    "a temperature that always rises in steps": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, *, growth, **options: right(positions, **options),
        places=("without positions, smoothly",),
    ),
    "one key too many in a long row": Fault(
        function=dilution.weight_among,
        wrong=lambda right, row, key, lengths, factors: right(row, key, lengths + 1, factors),
        places=("without positions",),
    ),
    "a long row without its temperature": Fault(
        function=dilution.weight_among,
        wrong=lambda right, row, key, lengths, factors: right(row, key, lengths, torch.ones_like(factors)),
        places=("without positions",),
    ),
    "positions in a layer without": Fault(
        function=encodings.encode,
        wrong=lambda right, x, weights, how, **options: right(
            x + torch.arange(len(x))[:, None] / 10, weights, how, **options
        ),
        places=("without positions",),
    ),
    "one key more than k": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, **options: right(scores, top_k + 1, **options),
        places=("the 2 largest", "the 2 largest of equals"),
    ),
    "the smallest scores kept": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, **options: right(-scores, top_k, **options),
        places=("the 2 largest",),
    ),
    "the largest chosen before closed keys are dropped": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, *, allowed: right(scores, top_k) & allowed,
        places=("the 2 largest",),
    ),
    "the later of equal scores kept": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, *, allowed: right(scores.flip(-1), top_k, allowed=allowed.flip(-1)).flip(-1),
        places=("the 2 largest of equals",),
    ),
    "k never as large as the text": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, **options: right(scores, min(top_k, scores.shape[-1] - 1), **options),
        places=("the 2 largest", "the 2 largest of equals"),
    ),
    "the weight lost with one key fewer": Fault(
        function=selection.lost_shares,
        wrong=lambda right, weights: right(weights).roll(1, -1),
        places=("the 2 largest", "the 2 largest of equals"),
    ),
    "the weight lost in the order of the text": Fault(
        function=selection.lost_shares,
        wrong=lambda right, weights: 1 - weights.cumsum(-1),
        places=("the 2 largest",),
    ),
    "one sink for all words": Fault(
        function=sinks.word_share,
        wrong=lambda right, masked, sink: right(masked, sink.mean(-1) if sink.ndim > 1 else sink),
        places=("to nobody, from the word",),
    ),
    "only half of what lies along the own value": Fault(
        function=exclusive.exclude_own_value,
        wrong=lambda right, output, v, *, share: right(output, v, share=share / 2),
        places=("own value",),
    ),
    "something taken away at λ = 0": Fault(
        function=exclusive.exclude_own_value,
        wrong=lambda right, output, v, *, share: right(output, v, share=max(share, 0.1)),
        places=("own value", "who uses what"),
    ),
    "a struck-out diagonal": Fault(
        function=exclusive.exclusive_map,
        wrong=lambda right, weights, v, *, share: weights - torch.diag_embed(weights.diagonal(dim1=-2, dim2=-1)),
        places=("own value", "who uses what"),
    ),
    "chosen after closed keys count": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, *, allowed: right(scores, top_k) & allowed,
        places=("chosen keys",),
    ),
    "a scorer of the opposite sign": Fault(
        function=selection.index_scores,
        wrong=lambda right, q, k, weights: right(-q, k, weights),
        places=("chosen keys", "pooled blocks"),
    ),
    "blocks one key longer": Fault(
        function=chosen_blocks.block_mask,
        wrong=lambda right, scores, n_blocks, size, **options: right(scores, n_blocks, size + 1, **options),
        places=("chosen blocks",),
    ),
    "never all blocks": Fault(
        function=chosen_blocks.block_mask,
        wrong=lambda right, scores, n_blocks, size, **options: right(scores, 1, size, **options),
        places=("chosen blocks", "who uses what"),
    ),
    "pooled blocks without the words left over": Fault(
        function=chosen_blocks.pooled_mask,
        wrong=lambda right, q, k, n_blocks, size, *, allowed: (
            right(q, k, n_blocks, size, allowed=allowed) & (torch.arange(len(k)) < len(k) // size * size)
        ),
        places=("pooled blocks", "who uses what"),
    ),
    "an entry that opens a word late": Fault(
        function=compressed.compressed_mask,
        wrong=lambda right, allowed, m, fresh: right(allowed, m, fresh) & right(allowed, m, fresh).roll(1, -2),
        places=("entries", "who uses what"),
    ),
    "an entry that is a sum": Fault(
        function=compressed.compress, wrong=lambda right, series: len(series[2]) * right(series), places=("entries",)
    ),
    "a cache without its window": Fault(
        function=compressed_today.cache_sizes,
        wrong=lambda right, spec, n, m, fresh: right(spec, n, m, 0),
        places=("entries",),
    ),
    "a look at layers that come later": Fault(
        function=depth.attend_depth,
        wrong=lambda right, sources, w, **options: right(sources, w, **options | {"allowed": None}),
        places=("over depth", "over depth, a model"),
    ),
    "a stream a layer late": Fault(
        function=today_compute.stream,
        wrong=lambda right, *args: right(*args).roll(1, 0),
        places=("over depth, a model",),
    ),
    "streams mixed the other way round": Fault(
        function=streams.StreamWeights.next,
        wrong=lambda right, self, *args: right(replace(self, mix=self.mix.mT), *args),
        places=("several streams",),
    ),
    "a single round": Fault(
        function=streams.sinkhorn,
        wrong=lambda right, logits, **options: right(logits, **options | {"rounds": 1}),
        places=("several streams",),
    ),
    "a delta rule that writes by halves": Fault(
        function=delta.delta_map,
        wrong=lambda right, q, k, *, beta, **options: right(q, k, beta=beta / 2, **options),
        places=("delta rule",),
    ),
}
