"""Layers of different kinds: by hand, by torch's own count of what runs, and by their crossings."""

from functools import partial

import pytest
import torch

from viz.core.attention import attend
from viz.core.cost.attention import attention_flops, kv_cache_bytes
from viz.core.cost.counting import FlopCounterMode
from viz.core.cost.mixed import (
    FullCost,
    LatentCost,
    LinearCost,
    SharedKVCost,
    TopKCost,
    WindowCost,
    cache_bytes,
    cheaper_from,
    step_flops,
    text_flops,
)
from viz.core.cost.model import ModelSpec, model_flops, model_kv_bytes
from viz.core.positions import rope
from viz.core.spec import AttentionSpec
from viz.core.variants.today.delta import delta_states
from viz.core.variants.today.interleaved import full_layers
from viz.core.variants.today.latent import LatentSpec, LatentWeights, attend_absorbed, attend_latent
from viz.core.variants.today.linear import linear_states

SPEC = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=2, d_head=5, d_value=7)
LATENT = LatentSpec(d_model=13, n_heads=3, d_latent=5, d_nope=11, d_rope=4, d_value=2)
V3 = LatentSpec(d_model=7168, n_heads=128, d_latent=512, d_nope=128, d_rope=64, d_value=128)
FULL, NEAR = FullCost(spec=SPEC), WindowCost(spec=SPEC, size=11)
T = 17


def count(call) -> int:
    """Operations of matrix products, as torch counts them while they run."""
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


def test_full_layer_equals_attention_count():
    """Scores and mixing of attention_flops, the cache of kv_cache_bytes, and what torch counts."""
    flops = attention_flops(SPEC, n_queries=T, n_keys=T)
    assert FULL.text_flops(T) == flops.scores + flops.mixing
    assert cache_bytes([FULL] * 3, n_tokens=T) == kv_cache_bytes(SPEC, n_tokens=T, n_layers=3)
    q, k, v = torch.ones(6, 1, 5), torch.ones(6, T, 5), torch.ones(6, T, 7)
    assert FULL.step_flops(T) == count(lambda: attend(q, k, v))


def test_windows_in_a_model():
    """One window in three layers, as the model of the same sizes counts it; at its size nothing has changed yet."""
    model = ModelSpec(attention=SPEC, n_layers=3, d_ff=31, vocabulary=17, window=11, windowed_layers=1)
    stack = [NEAR, FULL, FULL]
    for n in (5, 11, 12, 29):
        assert cache_bytes(stack, n_tokens=n) == model_kv_bytes(model, n_tokens=n)
        assert text_flops(stack, n_tokens=n) == model_flops(model, n_tokens=n).pairs
    assert NEAR.step_flops(11) == FULL.step_flops(11) < FULL.step_flops(12)
    assert NEAR.step_flops(12) == NEAR.step_flops(11)


def test_linear_layer_equals_torch_count():
    """One product to write the state, one to read it; the delta rule reads twice. Nothing grows."""
    n_heads, d_k, d_v = 3, 5, 7
    q, v, steps = torch.ones(n_heads, 1, d_k), torch.ones(n_heads, 1, d_v), torch.zeros(n_heads, 1)
    write = count(lambda: q.mT @ v)  # the step writes by broadcasting, which torch does not count
    read = count(lambda: linear_states(q, q, v, steps))
    corrected = count(lambda: delta_states(q, q, v, beta=torch.ones(n_heads, 1), steps=steps))
    plain = LinearCost(n_heads=n_heads, d_k=d_k, d_v=d_v)
    delta = LinearCost(n_heads=n_heads, d_k=d_k, d_v=d_v, corrects=True)
    assert plain.step_flops(T) == write + read == 420
    assert delta.step_flops(T) == write + corrected == 630
    assert plain.step_flops(1) == plain.step_flops(10**9)
    assert plain.cache_numbers(1) == plain.cache_numbers(10**9) == linear_states(q, q, v, steps).state.numel() == 105


def test_latent_layer_equals_torch_count():
    """A step is the absorbed form, a text the plain one; projections to and from the width of a token are left out."""
    x, weights = torch.ones(T, LATENT.d_model), LatentWeights.random(LATENT, seed=0)
    turn = partial(rope, pairing="halves")
    matrices = [weights.w_q, weights.w_down, weights.w_rope_k, weights.w_o]
    projections = 2 * T * sum(matrix.numel() for matrix in matrices)
    layer = LatentCost(spec=LATENT)
    assert T * layer.step_flops(T) + projections == count(lambda: attend_absorbed(x, weights, turn=turn))
    assert layer.text_flops(T) + projections == count(lambda: attend_latent(x, weights, turn=turn))


def test_published_caches():
    """DeepSeek-V3 keeps 70,272 bytes a token where its heads would take 5.0 MB; Gemma 3, gpt-oss, Qwen 3-Next."""
    assert cache_bytes([LatentCost(spec=V3)] * 61, n_tokens=1) == 70_272
    heads = AttentionSpec(d_model=7168, n_heads=128, d_head=192, d_value=128)
    assert cache_bytes([FullCost(spec=heads)] * 61, n_tokens=1) == 2 * 2_498_560
    gpt_oss = AttentionSpec(d_model=2880, n_heads=64, n_kv_heads=8, d_head=64)
    layers = [
        FullCost(spec=gpt_oss) if full else WindowCost(spec=gpt_oss, size=128) for full in full_layers(36, period=2)
    ]
    assert cache_bytes(layers, n_tokens=131_072) == 18 * (131_072 + 128) * 8 * 128 * 2
    qwen = AttentionSpec(d_model=2048, n_heads=16, n_kv_heads=2, d_head=256)
    delta = LinearCost(n_heads=32, d_k=128, d_v=128, corrects=True)
    stack = [FullCost(spec=qwen) if full else delta for full in full_layers(48, period=4)]
    assert cache_bytes(stack, n_tokens=262_144) == 2 * (12 * 262_144 * 2 * 512 + 36 * 32 * 128 * 128)


def test_crossings_by_hand():
    """A window is cheaper one token beyond its size, a state from d tokens on, with the delta rule from 3/2 d."""
    d = 64
    full = FullCost(spec=AttentionSpec(d_model=5 * d, n_heads=5))
    plain, delta = (LinearCost(n_heads=5, d_k=d, d_v=d, corrects=corrects) for corrects in (False, True))
    window = WindowCost(spec=full.spec, size=11)
    assert cheaper_from(plain.step_flops, full.step_flops) == d + 1
    assert cheaper_from(delta.step_flops, full.step_flops) == 3 * d // 2 + 1
    assert cheaper_from(plain.cache_numbers, full.cache_numbers) == d // 2 + 1
    assert cheaper_from(window.step_flops, full.step_flops) == 12
    assert cheaper_from(window.cache_numbers, full.cache_numbers) == 12


def test_selection_is_cheaper_for_long_texts():
    """The scorer looks at all keys, cheaply; V3.2 takes fewer operations than V3 from 2,178 tokens on."""
    latent = LatentCost(spec=V3)
    selected = TopKCost(layer=latent, top_k=2048, n_heads=64, d_head=128)
    met = cheaper_from(selected.step_flops, latent.step_flops)
    assert met == 2178 == 2048 * 128 * 1088 // (128 * 1088 - 64 * 129) + 1
    assert selected.cache_numbers(7) == 7 * (576 + 128)


def test_reused_layers_keep_nothing():
    """Fifteen of Gemma 3n's 35 layers read the keys and values of others."""
    layers = [FULL] * 20 + [SharedKVCost(layer=FULL)] * 15
    assert cache_bytes(layers, n_tokens=T) == cache_bytes([FULL] * 20, n_tokens=T)
    assert step_flops(layers, n_tokens=T) == step_flops([FULL] * 35, n_tokens=T)
    assert text_flops(layers, n_tokens=T) == text_flops([FULL] * 35, n_tokens=T)


def test_sizes_below_one_are_refused():
    """By their names."""
    for call, sentence in (
        (lambda: cache_bytes([FULL], n_tokens=0), "n_tokens=0 must be at least 1"),
        (lambda: step_flops([FULL], n_tokens=0), "n_tokens=0 must be at least 1"),
        (lambda: text_flops([FULL], n_tokens=0), "n_tokens=0 must be at least 1"),
        (lambda: WindowCost(spec=SPEC, size=0), "size=0 must be at least 1"),
        (lambda: LinearCost(n_heads=1, d_k=0, d_v=1), "d_k=0 must be at least 1"),
        (lambda: TopKCost(layer=FULL, top_k=0, n_heads=1, d_head=1), "top_k=0 must be at least 1"),
    ):
        with pytest.raises(ValueError, match=f"^{sentence}$"):
            call()
