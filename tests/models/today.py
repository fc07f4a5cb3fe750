"""Current attention variants against their model families: small random modules of transformers, eager, in float32.

``python -m tests.models.today`` prints the table of differences.
"""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from types import ModuleType
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.nn.functional import silu

from viz.core.attention import attend
from viz.core.heads import concat_heads, share_kv, split_heads
from viz.core.masks import causal, look_back
from viz.core.norm import NormWeights, rms_norm
from viz.core.positions import frequencies, rope
from viz.core.variants.encodings import content_bias
from viz.core.variants.layer_sharing import kv_sources
from viz.core.variants.residual.depth import attend_depth
from viz.core.variants.residual.streams import stream_weights
from viz.core.variants.today.angles import (
    partial_rope,
    proportional_frequencies,
    temperatures,
)
from viz.core.variants.today.bounded_scores import QKNorm, norm_queries_and_keys
from viz.core.variants.today.chosen_blocks import block_mask, pooled_mask
from viz.core.variants.today.compressed import attend_to_entries, compress, compressed_mask, turn_last
from viz.core.variants.today.delta import decay_steps, delta_map, delta_states, to_unit_length
from viz.core.variants.today.differential import attend_differential, initial_share, learned_share, norm_difference
from viz.core.variants.today.exclusive import exclude_own_value, exclusive_map
from viz.core.variants.today.gates import output_gate
from viz.core.variants.today.latent import LatentSpec, LatentWeights, attend_absorbed, attend_latent
from viz.core.variants.today.linear import lightning_slopes, linear_map, linear_states
from viz.core.variants.today.selection import index_scores, top_k_mask

H, G, D, D_MODEL, T = 6, 2, 10, 60, 13
BASE = 700.0
SIZES = {
    "hidden_size": D_MODEL, "intermediate_size": 53, "num_hidden_layers": 5, "num_attention_heads": H,
    "num_key_value_heads": G, "head_dim": D, "vocab_size": 31, "max_position_embeddings": 61, "pad_token_id": 0,
    "attn_implementation": "eager",
}  # fmt: skip
ROPE = {"rope_type": "default", "rope_theta": BASE}
Differences = Callable[[], Mapping[str, float]]


def family(name: str) -> ModuleType:
    """Return the modelling module of a family."""
    return importlib.import_module(f"transformers.models.{name}.modeling_{name}")


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Draw normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def fill(module: nn.Module) -> Any:
    """Draw every parameter wide, norms and sinks too, so that nothing is near its start."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(0, 0.3, generator=generator)
    return module.eval()


def run(module: Any, x: Tensor, positions: Any, allowed: Tensor | None = None, **more: Any) -> tuple[Tensor, Tensor]:
    """Run an attention module as its layer does: its output (T, d_model) and weights (H, T, T)."""
    open_cells = causal(len(x), len(x)) if allowed is None else allowed
    mask = torch.zeros(len(x), len(x)).masked_fill(~open_cells, torch.finfo(torch.float32).min)[None, None]
    with torch.no_grad():
        inputs = {"hidden_states": x[None], "position_embeddings": positions, "attention_mask": mask}
        output, weights = module(**inputs, **more)[:2]
    return output[0], weights[0]


def angles_of(module: ModuleType, prefix: str, config: Any, x: Tensor) -> Any:
    """Return the rotary embedding's output for the positions, as the family's attention reads it."""
    return getattr(module, f"{prefix}RotaryEmbedding")(config)(x[None], torch.arange(len(x))[None])


def largest_difference(a: Tensor, b: Tensor) -> float:
    """Return the largest difference of two tensors of the same shape."""
    assert a.shape == b.shape, (a.shape, b.shape)
    return float((a - b).detach().abs().max())


def project_inputs(module: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of a module with Llama's projections."""
    q, k, v = (
        split_heads(getattr(module, f"{name}_proj")(x), heads).detach()
        for name, heads in (("q", H), ("k", G), ("v", G))
    )
    return q, k, v


def project_output(module: Any, outputs: Tensor) -> Tensor:
    """Return the module's output for the heads' outputs (H, T, d)."""
    return module.o_proj(concat_heads(outputs)).detach()


def like_llama(name: str, prefix: str, *, layer: int = 0, **sizes: Any) -> Any:
    """Return a family's attention module and its input: module, configuration, tokens, positions."""
    code = family(name)
    config = getattr(transformers, f"{prefix}Config")(**SIZES | {"rope_parameters": ROPE} | sizes)
    x = draw(T, D_MODEL)
    module = fill(getattr(code, f"{prefix}Attention")(config, layer_idx=layer))
    return module, config, x, angles_of(code, prefix, config, x)


turn = partial(rope, base=BASE, pairing="halves")


def _normed(name: str, prefix: str, norm: Callable[[Any], QKNorm], move: Callable[[Tensor], Tensor] = turn) -> float:
    module, config, x, positions = like_llama(name, prefix)
    output, _ = run(module, x, positions)
    q, k, v = project_inputs(module, x)
    q, k = norm_queries_and_keys(q, k, norm(module), turn=move)
    trace = attend(q, share_kv(k, H), share_kv(v, H), allowed=causal(T, T), scale=config.head_dim**-0.5)
    return largest_difference(project_output(module, trace.output), output)


def qk_norms() -> Mapping[str, float]:
    """A norm on queries and keys in its three places."""

    def of_heads(module: Any) -> QKNorm:
        gains = {"q_gain": module.q_norm.weight.detach(), "k_gain": module.k_norm.weight.detach()}
        return QKNorm(place="all_heads" if len(gains["q_gain"]) > D else "head", **gains)

    def hunyuan(module: Any) -> QKNorm:
        q_gain, k_gain = module.query_layernorm.weight.detach(), module.key_layernorm.weight.detach()
        return QKNorm(place="after_turn", q_gain=q_gain, k_gain=k_gain, eps=1e-5)

    against = partial(
        rope,
        pairing="halves",
        omega=-frequencies(D, base=BASE),
        # nanochat rotates in the other direction.
    )
    bare = QKNorm(place="after_turn")
    return {
        "qwen3: each head, before the turn": _normed("qwen3", "Qwen3", of_heads),
        "olmo2: all heads, before the turn": _normed("olmo2", "Olmo2", of_heads),
        "nanochat: after the turn, no gains": _normed("nanochat", "NanoChat", lambda _: bare, against),
        "hunyuan: after the turn": _normed("hunyuan_v1_dense", "HunYuanDenseV1", hunyuan),
    }  # fmt: skip


def llama4() -> Mapping[str, float]:
    """A norm after the turn, and a layer without positions but with a temperature."""
    differences = {}
    for layer, name in ((0, "norm after the turn, output"), (3, "no positions, temperature, output")):
        sizes = {"floor_scale": 3, "attn_scale": 0.1, "num_local_experts": 2, "attention_chunk_size": 61}
        code = family("llama4")
        config = transformers.Llama4TextConfig(**SIZES | {"rope_parameters": ROPE} | sizes)
        x = draw(T, D_MODEL)
        module = fill(code.Llama4TextAttention(config, layer_idx=layer))
        output, _ = run(module, x, code.Llama4TextRotaryEmbedding(config)(x[None], torch.arange(T)[None]))
        q, k, v = project_inputs(module, x)
        if module.use_rope:
            move = partial(rope, base=BASE, pairing="adjacent")
            q, k = norm_queries_and_keys(q, k, QKNorm(place="after_turn", eps=config.rms_norm_eps), turn=move)
        else:
            q = q * temperatures(torch.arange(T), floor=3)[:, None]
        trace = attend(q, share_kv(k, H), share_kv(v, H), allowed=causal(T, T))
        differences[name] = largest_difference(project_output(module, trace.output), output)
    return differences


def qwen3_next() -> Mapping[str, float]:
    """An output gate, with a norm on each head and a part of each head turned."""
    sizes = {"rope_parameters": ROPE | {"partial_rotary_factor": 0.4}, "num_experts": 2}
    module, config, x, positions = like_llama("qwen3_next", "Qwen3Next", layer=3, **sizes)
    output, weights = run(module, x, positions)
    q = split_heads(module.q_proj(x).detach(), H).chunk(2, -1)[0]
    k, v = (split_heads(getattr(module, f"{name}_proj")(x), G).detach() for name in "kv")
    gains = {"q_gain": 1 + module.q_norm.weight.detach(), "k_gain": 1 + module.k_norm.weight.detach()}
    move = partial(partial_rope, rotary_dim=4, base=BASE, pairing="halves")
    q, k = norm_queries_and_keys(q, k, QKNorm(place="head", eps=config.rms_norm_eps, **gains), turn=move)
    trace = attend(q, share_kv(k, H), share_kv(v, H), allowed=causal(T, T))
    w_gate = module.q_proj.weight.detach().T.unflatten(-1, (H, 2, D))[:, :, 1].flatten(1)
    gated = trace.output * output_gate(x, w_gate, H)
    return {
        "gate, partial RoPE, weights": largest_difference(trace.weights, weights),
        "gate, output": largest_difference(project_output(module, gated), output),
    }


def delta_rule() -> Mapping[str, float]:
    """The gated delta rule: the family's chunks of 64, its step by step, and its whole layer."""
    code, n = family("qwen3_next"), 71
    q, k, v = draw(1, n, 3, 5), draw(1, n, 3, 5, seed=1), draw(1, n, 3, 7, seed=2)
    log_decay, beta = -draw(1, n, 3, seed=3).abs(), torch.sigmoid(draw(1, n, 3, seed=4))
    theirs = {"g": log_decay, "beta": beta, "use_qk_l2norm_in_kernel": True, "output_final_state": True}
    heads = [to_unit_length(y.transpose(1, 2)) for y in (q, k)]
    gates: dict[str, Any] = {"beta": beta.mT, "steps": log_decay.mT}
    ours = delta_states(heads[0], heads[1], v.transpose(1, 2), **gates)
    differences = {}
    for name in ("chunk", "recurrent"):
        output, state = getattr(code, f"torch_{name}_gated_delta_rule")(q, k, v, initial_state=None, **theirs)
        differences[f"{name}, states"] = largest_difference(ours.output, output.transpose(1, 2))
        differences[f"{name}, last state"] = largest_difference(ours.state, state)
        differences[f"{name}, map"] = largest_difference(
            delta_map(heads[0], heads[1], **gates) @ v.transpose(1, 2), output.transpose(1, 2)
        )
    return differences | {"whole layer, output": _delta_layer(code)}


def _delta_layer(code: ModuleType) -> float:
    sizes = {
        "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 5, "linear_value_head_dim": 7,
        "num_experts": 2,
    }  # fmt: skip
    config = transformers.Qwen3NextConfig(**SIZES | {"rope_parameters": ROPE} | sizes)
    module, x = fill(code.Qwen3NextGatedDeltaNet(config, layer_idx=0)), draw(T, D_MODEL)
    with torch.no_grad():
        theirs = module(x[None])[0]
        q, k, v, z, b, a = module.fix_query_key_value_ordering(module.in_proj_qkvz(x[None]), module.in_proj_ba(x[None]))
        mixed = torch.cat([y.flatten(2) for y in (q, k, v)], -1).transpose(1, 2)
        mixed = silu(module.conv1d(mixed)[..., :T])[0].T
        q, k, v = (split_heads(y, heads) for y, heads in zip(mixed.split([10, 10, 28], -1), (2, 2, 4), strict=True))
        q, k = (share_kv(to_unit_length(y), 4) for y in (q, k))
        steps = decay_steps(a[0], module.A_log, module.dt_bias)
        heads = delta_map(q, k, beta=torch.sigmoid(b[0]).mT, steps=steps) @ v
        gain = NormWeights(gain=module.norm.weight, eps=config.rms_norm_eps)
        ours = module.out_proj(concat_heads(rms_norm(heads, gain) * silu(z[0].transpose(0, 1))))
    return largest_difference(ours, theirs)


def diffllama() -> Mapping[str, float]:
    """The difference of two maps; heads of a pair are half of all heads apart, and share two values."""
    sizes = {"num_key_value_heads": 2, "attention_dropout": 0.0}
    module, config, x, positions = like_llama("diffllama", "DiffLlama", layer=3, **sizes)
    output, _ = run(module, x, positions)
    q, k, v = project_inputs(module, x)
    (q_1, q_2), (k_1, k_2) = turn(q).chunk(2), share_kv(turn(k), H).chunk(2)
    values = torch.cat([share_kv(half.repeat(2, 1, 1), H)[: H // 2] for half in v.chunk(2)], -1)
    start = initial_share(3)
    vectors = [getattr(module, f"lambda_{name}").detach() for name in ("q1", "k1", "q2", "k2")]
    share = learned_share(*vectors, start=start)
    trace = attend_differential(q_1, k_1, q_2, k_2, values, share=share, allowed=causal(T, T))
    normed = norm_difference(trace.output, start=start, eps=config.rms_norm_eps)
    # its heads lie in H / 2 blocks of 2 d numbers
    return {"difference, output": largest_difference(project_output(module, normed), output)}


def minimax() -> Mapping[str, float]:
    """Linear attention in blocks of 5 tokens; its own norm, gate and W_O are the module's."""
    sizes = {"block_size": 5, "num_local_experts": 2, "layer_types": ["linear_attention", "full_attention"] * 2}
    config = transformers.MiniMaxConfig(**SIZES | {"rope_parameters": ROPE, "num_hidden_layers": 4} | sizes)
    module, x = fill(family("minimax").MiniMaxLightningAttention(config, layer_idx=2)), draw(T, D_MODEL)
    with torch.no_grad():
        output, state = module(x[None], position_embeddings=None, attention_mask=None)
        q, k, v = split_heads(silu(module.qkv_proj(x)), H).chunk(3, -1)
        steps = -lightning_slopes(H, layer=2, n_layers=4)[:, None].expand(H, T)
        ours = linear_states(q, k, v, steps)

        def finish(heads: Tensor) -> Tensor:
            return module.out_proj(torch.sigmoid(module.output_gate(x)) * module.norm(concat_heads(heads)))

        return {
            "state, output": largest_difference(finish(ours.output), output[0]),
            "map, output": largest_difference(finish(linear_map(q, k, steps) @ v), output[0]),
            "last state": largest_difference(ours.state, state[0]),
        }


LATENT = LatentSpec(d_model=D_MODEL, n_heads=H, d_latent=7, d_nope=11, d_rope=4, d_value=5)
LATENT_SIZES = {
    "kv_lora_rank": 7, "q_lora_rank": 17, "qk_rope_head_dim": 4, "qk_nope_head_dim": 11, "v_head_dim": 5,
    "num_key_value_heads": H, "head_dim": 4, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 1,
    "topk_group": 1, "moe_intermediate_size": 20,
}  # fmt: skip


def latent_weights(module: Any, config: Any) -> LatentWeights:
    """Convert the weights of a DeepSeek module to the core's form."""
    up = split_heads(module.kv_b_proj.weight.detach().T, H)
    up_k, up_v = (concat_heads(part) for part in up.split([LATENT.d_nope, LATENT.d_value], -1))
    down, rope_k = module.kv_a_proj_with_mqa.weight.detach().T.split([LATENT.d_latent, LATENT.d_rope], -1)
    return LatentWeights(
        spec=LATENT,
        w_q=module.q_b_proj.weight.detach().T,
        w_q_down=module.q_a_proj.weight.detach().T,
        q_gain=module.q_a_layernorm.weight.detach(),
        w_down=down,
        gain=module.kv_a_layernorm.weight.detach(),
        w_rope_k=rope_k,
        w_up_k=up_k,
        w_up_v=up_v,
        w_o=module.o_proj.weight.detach().T,
        eps=module.kv_a_layernorm.variance_epsilon,
    )


adjacent = partial(rope, base=BASE, pairing="adjacent")


def deepseek_v3() -> Mapping[str, float]:
    """Latent attention, in both forms, and what the family itself caches."""
    module, config, x, positions = like_llama("deepseek_v3", "DeepseekV3", **LATENT_SIZES)
    output, weights = run(module, x, positions)
    ours = latent_weights(module, config)
    differences: dict[str, float] = {}
    for name, form in (("plain", attend_latent), ("absorbed", attend_absorbed)):
        trace = form(x, ours, turn=adjacent, allowed=causal(T, T))
        differences |= {
            f"{name}, weights": largest_difference(trace.attention.weights, weights),
            f"{name}, output": largest_difference(trace.output, output),
        }
    return differences


def count_cached_numbers() -> int:
    """Return how many numbers the family's cache stores per token and layer."""
    module, _, x, positions = like_llama("deepseek_v3", "DeepseekV3", **LATENT_SIZES)
    cache = transformers.DynamicCache()
    options = {"cache" if "cache" in signature(module.forward).parameters else "past_key_values": cache}
    with torch.no_grad():
        module(hidden_states=x[None], position_embeddings=positions, attention_mask=None, **options)
    layer = cache.layers[0]
    return (layer.keys.numel() + layer.values.numel()) // T


def token_indexer(name: str, prefix: str, pairing: Any) -> Mapping[str, float]:
    """The largest scores of a small scorer as a mask, then latent attention behind it.

    Seven heads: with three ReLU leaves several scores at exactly 0, and the family takes any of equals. RoPE pairs
    halves in DeepSeek's scorer and neighbours in GLM's.
    """
    sizes = {"index_topk": 5, "index_n_heads": 7, "index_head_dim": 14}
    module, config, x, positions = like_llama(name, prefix, **LATENT_SIZES | sizes)
    output, weights = run(module, x, positions)
    ours, indexer = latent_weights(module, config), module.indexer
    with torch.no_grad():
        source = module.q_a_layernorm(module.q_a_proj(x))
        q = partial_rope(split_heads(indexer.wq_b(source), 7), 4, base=BASE, pairing=pairing)
        k = partial_rope(indexer.k_norm(indexer.wk(x)), 4, base=BASE, pairing=pairing)
        scores = index_scores(q, k, indexer.weights_proj(x))
    allowed = top_k_mask(scores, 5, allowed=causal(T, T))
    trace = attend_latent(x, ours, turn=adjacent, allowed=allowed)
    return {
        "cells of the mask that differ": float(((weights[0] > 0) != allowed).sum()),
        "rows that drop the own word, none": float(bool(allowed.diagonal().all())),
        "top-k, weights": largest_difference(trace.attention.weights, weights),
        "top-k, output": largest_difference(trace.output, output),
    }


def _gemma_norm(x: Tensor, module: Any) -> Tensor:
    """The norm of both families: its gain is 1 + weight."""
    return rms_norm(x, NormWeights(gain=1 + module.weight, eps=module.eps))


def minimax_m3_vl() -> Mapping[str, float]:
    """Blocks of 3 keys, 2 kept: each group of heads has a scorer's head, and the own block is always among them."""
    sizes = {
        "layer_types": ["minimax_m3_sparse"] * 5, "index_n_heads": G, "index_head_dim": 14, "index_block_size": 3,
        "index_topk_blocks": 2, "num_local_experts": 2, "rope_parameters": ROPE | {"partial_rotary_factor": 0.4},
        "bos_token_id": 1, "eos_token_id": 2,
    }  # fmt: skip
    code = family("minimax_m3_vl")
    config = transformers.MiniMaxM3VLTextConfig(**SIZES | sizes)
    module, x = fill(code.MiniMaxM3VLAttention(config, layer_idx=0)), draw(T, D_MODEL)
    output, weights = run(module, x, code.MiniMaxM3VLRotaryEmbedding(config)(x[None], torch.arange(T)[None]))
    indexer, move = module.indexer, partial(partial_rope, rotary_dim=4, base=BASE, pairing="halves")
    with torch.no_grad():
        q_scorer = move(_gemma_norm(split_heads(indexer.q_proj(x), G), indexer.q_norm))
        scores = q_scorer @ move(_gemma_norm(indexer.k_proj(x), indexer.k_norm)).mT
        q, k, v = project_inputs(module, x)
        q, k = move(_gemma_norm(q, module.q_norm)), move(_gemma_norm(k, module.k_norm))
    allowed = block_mask(scores, 2, 3, allowed=causal(T, T)).repeat_interleave(H // G, 0)
    trace = attend(q, share_kv(k, H), share_kv(v, H), allowed=allowed)
    return {
        "cells of the mask that differ": float(((weights > 0) != allowed).sum()),
        "both groups choose alike": float(torch.equal(allowed[0], allowed[-1])),
        "blocks, weights": largest_difference(trace.weights, weights),
        "blocks, output": largest_difference(project_output(module, trace.output), output),
    }


def qwen4_exp() -> Mapping[str, float]:
    """One block of 3 pooled keys, normed as a mean and turned at their first place; a gate on the output."""
    sizes: dict[str, Any] = {
        "indexer_n_heads": 7, "indexer_kv_heads": 1, "indexer_head_dim": 14, "indexer_budget": 3, "num_experts": 2,
        "indexer_compress_ratio": 3, "num_experts_per_tok": 1, "layer_types": ["indexed_attention"] * 5,
        "rope_parameters": ROPE | {"partial_rotary_factor": 0.4},
    }  # fmt: skip
    module, _, x, positions = like_llama("qwen4_exp", "Qwen4ExpText", **sizes)
    output, weights = run(module, x, positions)
    indexer, move = module.indexer, partial(partial_rope, rotary_dim=4, base=BASE, pairing="halves")

    def finish(means: Tensor, starts: Tensor) -> Tensor:
        # A turn of all places, of which each block needs that of its first.
        normed = _gemma_norm(means, indexer.k_layernorm)
        at_all = move(normed[..., None, :].expand(*normed.shape[:-1], T, -1))
        return at_all.take_along_dim(starts[..., None, None], -2)[..., 0, :]

    with torch.no_grad():
        q_scorer, k_scorer = indexer.index_qk_proj(x).split([7 * 14, 14], -1)
        q_scorer = move(_gemma_norm(split_heads(q_scorer, 7), indexer.q_layernorm))
        allowed = pooled_mask(q_scorer, k_scorer, 1, 3, allowed=causal(T, T), finish=finish)
        q, w_gate = (part.contiguous() for part in split_heads(module.q_proj(x), H).chunk(2, -1))
        k, v = (split_heads(getattr(module, f"{name}_proj")(x), G) for name in "kv")
        q, k = move(_gemma_norm(q, module.q_norm)), move(_gemma_norm(k, module.k_norm))
        trace = attend(q, share_kv(k, H), share_kv(v, H), allowed=allowed)
    return {
        "cells of the mask that differ": float(((weights[0] > 0) != allowed).sum()),
        "rows that drop the own word, none": float(bool(allowed.diagonal().all())),
        "pooled blocks, weights": largest_difference(trace.weights, weights),
        "pooled blocks, output": largest_difference(project_output(module, trace.output * w_gate.sigmoid()), output),
    }


def deepseek_v4(kind: str, m: int) -> Mapping[str, float]:
    """Entries of m words with a norm and a turn, two series each where they overlap, 2 kept of those a word may see.

    19 heads score, so that hardly a score is 0. The layer's words and queries have the speeds of its entries.
    """
    module, x, (output, weights) = run_compressing(kind, m)
    turn, allowed = partial(turn_last, rotary_dim=4, base=500.0), compressed_mask(causal(T, T), m, 5)
    places, overlaps = torch.arange(T), kind.startswith("compressed")

    def entries(part: Any) -> Tensor:
        halves = [y.chunk(1 + overlaps, -1) for y in (part.kv_proj(x), part.gate_proj(x), part.position_bias)]
        # The series for the next block comes first.
        *earlier, series = zip(*halves, strict=True)
        means = compress(series, earlier=earlier[0] if earlier else None)
        return turn(_normed_by(means, part.kv_norm.weight), positions=places[: T // m] * m)

    with torch.no_grad():
        source = _normed_by(module.q_a_proj(x), module.q_a_norm.weight)
        q = _normed_by(split_heads(module.q_b_proj(source), H), torch.ones(D))
        fresh = turn(_normed_by(module.kv_proj(x), module.kv_norm.weight), positions=places)
        if overlaps:
            scorer, is_open = module.compressor.indexer, allowed[:, : T // m]
            q_scorer = turn(split_heads(scorer.q_b_proj(source), 19), positions=places)
            scores = index_scores(q_scorer, entries(scorer), scorer.scorer.weights_proj(x))
            allowed = torch.cat([top_k_mask(scores, 2, allowed=is_open), allowed[:, T // m :]], -1)
        rows = turn(q, positions=places), entries(module.compressor), fresh, allowed
        trace = attend_to_entries(*rows, rotary_dim=4, base=500.0, sink=module.sinks)
        ours = module.o_b_proj(module.o_a_proj(concat_heads(trace.output).unflatten(-1, (3, -1))).flatten(1))
    # Its words come before its entries.
    in_order = weights.roll(T // m, -1)
    return {
        "cells of the mask that differ": float(((in_order > 0) != allowed).sum()),
        f"{m} words, weights": largest_difference(trace.weights, in_order),
        f"{m} words, output": largest_difference(ours, output),
    }


def run_compressing(kind: str, m: int, cache: Callable[..., Any] = lambda **_: None) -> Any:
    """Run a layer with entries of m words: module, tokens, and its output and weights; with a cache, that too."""
    code, kinds = family("deepseek_v4"), ["compressed_sparse_attention", "heavily_compressed_attention"]
    config = transformers.DeepseekV4Config(
        **SIZES | {"num_key_value_heads": 1, "layer_types": [kind] * 5, "compress_rates": dict.fromkeys(kinds, m)},
        q_lora_rank=17, o_groups=3, o_lora_rank=7, index_n_heads=19, index_head_dim=14, index_topk=2, sliding_window=5,
        partial_rotary_factor=0.4, rope_theta=BASE, compress_rope_theta=500.0, n_routed_experts=2,
        num_experts_per_tok=1, moe_intermediate_size=53,
    )  # fmt: skip
    module, x, places = fill(code.DeepseekV4Attention(config, layer_idx=0)), draw(T, D_MODEL), torch.arange(T)[None]
    rotary, states = code.DeepseekV4RotaryEmbedding(config), cache(config=config)
    angles = {name: rotary(x[None], places, layer_type=name) for name in ("main", "compress")}
    results = run(module, x, angles, look_back(T, T, 5), position_ids=places, cache=states)
    return (module, x, results) if states is None else states.layers[0]


def _normed_by(x: Tensor, gain: Tensor) -> Tensor:
    return rms_norm(x, NormWeights(gain=gain, eps=1e-6))


def gemma4() -> Mapping[str, float]:
    """One matrix for keys and values, but these have no gain and no turn; the last two layers read the third one's."""
    code, angles = family("gemma4"), dict.fromkeys(("full_attention", "sliding_attention"), ROPE)
    sizes = {"layer_types": ["full_attention"] * 5, "num_kv_shared_layers": 2, "attention_k_eq_v": True}
    widths = {"global_head_dim": D, "num_global_key_value_heads": G, "rope_parameters": angles}
    config = transformers.Gemma4TextConfig(**SIZES | sizes | widths)
    layers = [fill(code.Gemma4TextAttention(config, layer_idx=i)) for i in range(5)]
    positions = code.Gemma4TextRotaryEmbedding(config)(
        draw(1, T, D), torch.arange(T)[None], layer_type="full_attention"
    )
    differences, states, sources = {}, dict[str, Any](), kv_sources(config.layer_types, 2)
    for i in (2, 4):
        layer, source, x = layers[i], layers[sources[i]], draw(T, D_MODEL, seed=i)
        output, _ = run(layer, x, positions, shared_kv_states=states)
        with torch.no_grad():
            q = turn(_normed_by(split_heads(layer.q_proj(x), H), layer.q_norm.weight))
            keys = split_heads(source.k_proj(draw(T, D_MODEL, seed=sources[i])), G)
            k, v = turn(_normed_by(keys, source.k_norm.weight)), _normed_by(keys, torch.ones(D))
        trace = attend(q, share_kv(k, H), share_kv(v, H), allowed=causal(T, T), scale=1.0)
        differences[f"layer {i}, output"] = largest_difference(project_output(layer, trace.output), output)
    return differences


def neomme() -> Mapping[str, float]:
    """Each head takes away its own share of what lies along the word's value; the gate comes after it.

    Embeddings of the words are added to the values first; two groups of values serve six heads. Every word looks at
    every word.
    """
    code = family("neomme")
    angles = {kind: ROPE | {"partial_rotary_factor": 1.0} for kind in ("full_attention", "sliding_attention")}
    config = transformers.NeoMMEConfig(**SIZES | {"head_dim": 12, "rope_parameters": angles})
    module, x = fill(code.NeoMMEAttention(config, layer_idx=4)), draw(T, D_MODEL)
    positions = code.NeoMMERotaryEmbedding(config)(x[None], torch.arange(T)[None], layer_type="full_attention")
    added = draw(T, G * 12, seed=3)
    with torch.no_grad():
        output, weights = (y[0] for y in module(x[None], positions, value_embeds=added[None]))
        q, k, v = project_inputs(module, x)
        q, k = norm_queries_and_keys(q, k, QKNorm(place="head", eps=config.norm_eps), turn=turn)
        v = share_kv(v + split_heads(added, G), H)
        trace, share = attend(q, share_kv(k, H), v), module.exclusive_self_attention.alpha.tanh()[:, None, None]
        projection = module.output_projection
        gate = output_gate(x, projection.gate_proj.weight.T, H)

        def finish(heads: Tensor) -> Tensor:
            return projection.o_proj(concat_heads(heads * gate))

        return {
            "weights": largest_difference(trace.weights, weights),
            "exclusive, output": largest_difference(finish(exclude_own_value(trace.output, v, share=share)), output),
            "exclusive, map": largest_difference(finish(exclusive_map(trace.weights, v, share=share) @ v), output),
        }


def inkling2_attention() -> Mapping[str, float]:
    """A sink that each word makes for each head, and a bias that it mixes for every distance; both are before softmax.

    The bias is shortened, not normed, and ends at the window; the log factor of full layers is on it, too. Keys and
    values come mixed with those of words before, and queries shortened: both are the module's own here.
    """
    code = family("inkling2")
    sizes = {"d_rel": 5, "rel_extent": 7, "sliding_window_size": 6, "rel_l2_clip_threshold": 2.0,
        "layer_types": ["hybrid_sliding", "hybrid"], "num_hidden_layers": 2, "log_scaling_n_floor": 4,
        "swa_num_attention_heads": H, "swa_num_key_value_heads": G, "swa_head_dim": D}  # fmt: skip
    config = transformers.Inkling2TextConfig(**SIZES | sizes)
    x, back = draw(T, D_MODEL), torch.arange(T)[:, None] - torch.arange(T)
    places, differences = torch.arange(T)[None], {}
    for layer, kind in ((0, "Sliding"), (1, "Full")):
        module = fill(getattr(code, f"Inkling2{kind}Attention")(config, layer_idx=layer))
        memory = {} if layer == 0 else {"key_hidden_states": x[None], "value_hidden_states": x[None]}
        allowed = causal(T, T)
        mask = torch.zeros(T, T).masked_fill(~allowed, torch.finfo(torch.float32).min)[None, None]
        with torch.no_grad():
            weights = module(x[None], attention_mask=mask, relative_distance=back, position_ids=places, **memory)[1][0]
            q, k = module.q_proj(x[None], places)[0], module.k_proj(x[None], position_ids=places)[0]
            part = module.relative_position_bias
            bias = content_bias(split_heads(part.linear(x), H) * part.norm.scale[:, None], part.proj, longest=2.0)
            factor = temperatures(places[0], floor=4, growth="smooth") if layer else torch.ones(T)
            bias, sink = bias * factor[:, None], module.sink_proj(x).T
            trace = attend(q, share_kv(k, H), share_kv(k, H), bias=bias, sink=sink, allowed=allowed)
        differences[f"{kind}: bias from content, sink from the word, weights"] = largest_difference(
            trace.weights, weights
        )
    return differences


def mistral_large4() -> Mapping[str, float]:
    """A factor of queries that grows with the logarithm of their place, by a gain of each head's own, from 1 here."""
    module = fill(family("mistral_large4").MistralLarge4TextSoftmaxScaling(H))
    q, places = draw(H, T, D), torch.arange(T)
    with torch.no_grad():
        module.bias.fill_(1.0)
        theirs = module(q[None], places[None], head_dim_first=True)[0]
    ours = torch.stack([temperatures(places, gain=gain, growth="logarithm") for gain in module.scale.tolist()])
    return {"logarithm, queries": largest_difference(q * ours[..., None], theirs)}


def inkling2() -> Mapping[str, float]:
    """A whole model's places of reading: both parts of each layer, and the end; a full layer reads three times.

    Blocks of two layers. Where a block begins, attention still reads the sum of the one before as the unfinished one.
    The first layer's attention reads the word as it is, without a norm.
    """
    code, readings = family("inkling2"), list[tuple[Tensor, Tensor, Tensor]]()
    sizes = {
        "layer_types": [*["hybrid_sliding"] * 3, "hybrid", "hybrid_sliding"], "n_layers_per_attn_res_block": 2,
        "n_routed_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "experts_implementation": "eager",
        "swa_num_attention_heads": H, "swa_num_key_value_heads": G, "swa_head_dim": D, "d_rel": 5, "eos_token_id": 2,
    }  # fmt: skip
    model = fill(code.Inkling2TextModel(transformers.Inkling2TextConfig(**SIZES | sizes)))

    def keep(module: Any, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
        sources = torch.cat([inputs[0], inputs[1].unsqueeze(-2)], -2)[0]
        w = module.query.view(-1, D_MODEL)
        readings.append((sources, attend_depth(sources, w).output, torch.stack(outputs, -2)[0]))

    for module in model.modules():
        if isinstance(module, code.Inkling2BlockAttentionResidual):
            module.register_forward_hook(keep)
    with torch.no_grad():
        ids = torch.randint(1, 31, (1, T), generator=torch.Generator().manual_seed(0))
        model(input_ids=ids, use_cache=False)
        word = model.embed_tokens(ids)[0]
    n_sources, n_readings = zip(*((sources.shape[1], read.shape[1]) for sources, read, _ in readings), strict=True)
    return {
        "other numbers of sources": float(n_sources != (2, 2, 2, 2, 3, 3, 3, 3, 4, 4)),
        "other numbers of readings": float(n_readings != (1, 1, 1, 1, 1, 3, 1, 1, 1, 1)),
        "first source is not the word": max(largest_difference(sources[:, 0], word) for sources, *_ in readings),
        "readings": max(largest_difference(read, theirs) for _, read, theirs in readings),
    }


def deepseek_v4_streams() -> Mapping[str, float]:
    """Four streams through a layer, whose attention and network are any maps of what they read."""
    code, n = family("deepseek_v4"), 4
    config = transformers.DeepseekV4Config(**SIZES | {"n_routed_experts": 3, "num_experts_per_tok": 2})
    layer, parts = fill(code.DeepseekV4DecoderLayer(config, 0)), (fill(nn.Linear(D_MODEL, D_MODEL)), nn.Tanh())
    layer.self_attn.forward = lambda x, **_: (parts[0](x), None)
    layer.mlp.forward = lambda x, **_: parts[1](x)
    start, differences = draw(1, T, n, D_MODEL), dict[str, float]()
    with torch.no_grad():
        ours, end = start[0], layer(start)[0]
        for name, norm, part in (("attn", "input", parts[0]), ("ffn", "post_attention", parts[1])):
            module = getattr(layer, f"{name}_hc")
            write, mix, read = (value[0] for value in module(ours[None]))
            weights = stream_weights(ours, module.fn, scales=module.scale, bias=module.base, eps=config.hc_eps)
            reading = (weights.read[..., None] * ours).sum(-2)
            pairs = {"b": (weights.write, write), "M": (weights.mix, mix), "reading": (reading, read)}
            differences |= {f"{name}, {of}": largest_difference(*pair) for of, pair in pairs.items()}
            ours = weights.next(ours, part(getattr(layer, f"{norm}_layernorm")(reading)))
    return differences | {"streams behind the layer": largest_difference(ours, end)}


def angular_speeds() -> Mapping[str, float]:
    """Gemma 4's proportional RoPE, relative to the fastest speed, as transformers computes it."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    def theirs(kind: str, width: int, base: float, **parameters: Any) -> tuple[Tensor, float]:
        config = transformers.LlamaConfig(
            hidden_size=width, num_attention_heads=1, max_position_embeddings=1 << 17,
            rope_parameters={"rope_type": kind, "rope_theta": base} | parameters,
        )  # fmt: skip
        return ROPE_INIT_FUNCTIONS[kind](config, device=torch.device("cpu"))

    proportional, _ = theirs("proportional", 64, BASE, partial_rotary_factor=0.25)
    ours = proportional_frequencies(64, 16, base=BASE)
    return {"proportional": largest_difference(ours, proportional.double())}


FAMILIES: Mapping[str, Differences] = {
    "qk norms": qk_norms,
    "llama4": llama4,
    "qwen3_next": qwen3_next,
    "qwen3_next, delta rule": delta_rule,
    "diffllama": diffllama,
    "minimax": minimax,
    "deepseek_v3": deepseek_v3,
    "deepseek_v32": partial(token_indexer, "deepseek_v32", "DeepseekV32", "halves"),
    "glm_moe_dsa": partial(token_indexer, "glm_moe_dsa", "GlmMoeDsa", "adjacent"),
    "minimax_m3_vl": minimax_m3_vl,
    "qwen4_exp": qwen4_exp,
    "deepseek_v4, overlapping": partial(deepseek_v4, "compressed_sparse_attention", 3),
    "deepseek_v4": partial(deepseek_v4, "heavily_compressed_attention", 4),
    "gemma4": gemma4,
    "neomme": neomme,
    "inkling2, attention": inkling2_attention,
    "mistral_large4": mistral_large4,
    "inkling2": inkling2,
    "deepseek_v4, streams": deepseek_v4_streams,
    "speeds": angular_speeds,
}


def main() -> None:
    """Print the table of differences."""
    transformers.logging.set_verbosity_error()
    for name, differences in FAMILIES.items():
        for of, difference in differences().items():
            print(f"| {name} | {of} | {difference:.1e} |")  # noqa: T201


if __name__ == "__main__":
    main()
