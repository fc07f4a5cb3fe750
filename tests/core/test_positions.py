"""Sinusoids, rotations and biases by distance, held to hand values, properties and transformers' own code."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw_single
from viz.core.masks import causal
from viz.core.positions import (
    alibi,
    alibi_slopes,
    frequencies,
    offsets,
    rope,
    rotation,
    sinusoidal,
    t5_bias,
    t5_buckets,
)

PAIRINGS = ("adjacent", "halves")


def test_sinusoidal_equals_transformers_reordered():
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    sines, cosines = create_sinusoidal_positions(61, 14).chunk(2, dim=1)
    # theirs multiplies float32 numbers, ours float64
    assert_close(sinusoidal(61, 14)[:, 0::2], sines, atol=5e-6, rtol=0)
    assert_close(sinusoidal(61, 14)[:, 1::2], cosines, atol=5e-6, rtol=0)


@pytest.mark.parametrize("width", [7, 1, 0, -2])
def test_odd_width_error_has_width(width):
    with pytest.raises(ValueError, match=f"width={width} is not an even number"):
        sinusoidal(3, width)
    with pytest.raises(ValueError, match="even"):
        frequencies(width)


@pytest.mark.parametrize("base", [0.0, -1.0, math.nan, math.inf])
def test_invalid_base_is_refused(base):
    with pytest.raises(ValueError, match="base="):
        frequencies(4, base=base)


@pytest.mark.parametrize("k", [5, -3])
def test_a_shift_is_a_rotation(k):
    rows = sinusoidal(41, 14)
    rotated = rows[17 : 17 + 7] @ rotation(k, 14).T
    # float32 rounding of both tables
    assert_close(rotated, rows[17 + k : 17 + 7 + k], atol=1e-6, rtol=0)
    turn = rotation(k, 14)
    assert_close(turn @ turn.T, torch.eye(14), atol=1e-6, rtol=0)
    assert_close(torch.linalg.det(turn.double()).item(), 1.0, atol=1e-5, rtol=0)


def test_rope_in_halves_equals_llama():
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    T, H, G, d_k = 13, 3, 1, 22
    config = LlamaConfig(
        hidden_size=H * d_k, num_attention_heads=H, rope_parameters={"rope_type": "default", "rope_theta": 700.0}
    )
    q, k = draw_single(1, H, T, d_k), draw_single(1, G, T, d_k, seed=1)
    cos, sin = LlamaRotaryEmbedding(config)(q, torch.arange(T)[None])
    their_q, their_k = apply_rotary_pos_emb(q, k, cos, sin)
    assert_close(rope(q, base=700.0, pairing="halves"), their_q, atol=1e-5, rtol=0)
    assert_close(rope(k, base=700.0, pairing="halves"), their_k, atol=1e-5, rtol=0)
    assert (rope(q, base=700.0, pairing="adjacent") - their_q).abs().max() > 1


def test_rope_of_neighbours_equals_gptj():
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions

    T, H, d_k = 13, 3, 22
    q = draw_single(1, T, H, d_k)
    sin, cos = create_sinusoidal_positions(T, d_k)[None].chunk(2, dim=-1)
    theirs = apply_rotary_pos_emb(q, sin, cos).transpose(1, 2)
    assert_close(rope(q.transpose(1, 2), pairing="adjacent"), theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("n_heads", [2, 7, 71, 128])
def test_alibi_weights_equal_bloom_when_causal(n_heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    T = 11
    theirs = build_alibi_tensor(torch.ones(1, T), n_heads, torch.float32)  # grows with the key: the same softmax
    scores, mask = draw_single(n_heads, T, T), ~causal(T, T)
    ours = (scores + alibi(n_heads, T, T)).masked_fill(mask, -torch.inf).softmax(-1)
    assert_close(ours, (scores + theirs).masked_fill(mask, -torch.inf).softmax(-1))


def test_alibi_by_hand():
    bias = alibi(2, 2, 5)  # the two queries stand beside the last two keys
    assert_close(bias[0], -torch.tensor([[3.0, 2, 1, 0, 1], [4, 3, 2, 1, 0]]) / 16)
    assert_close(bias[1], bias[0] / 16)
    with pytest.raises(ValueError, match="n_heads=0"):
        alibi_slopes(0)


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (8, 20), (22, 67)])
def test_t5_buckets_equal_transformers(both_ways, n_buckets, max_distance):
    from transformers.models.t5.modeling_t5 import T5Attention

    offset = torch.arange(-307, 308)
    theirs = T5Attention._relative_position_bucket(offset, both_ways, n_buckets, max_distance)
    ours = t5_buckets(offset, n_buckets=n_buckets, max_distance=max_distance, both_ways=both_ways)
    assert_close(ours, theirs)


def test_t5_bias_indexes_table_by_offset():
    table = draw_single(8, 3)
    bias = t5_bias(table, 5, 7)
    where = t5_buckets(offsets(5, 7), n_buckets=8)
    for query in range(5):
        for key in range(7):
            assert_close(bias[:, query, key], table[where[query, key]])


def test_angles_are_exact_far_out():
    row = sinusoidal(100_001, 2)[-1]
    assert_close(row, torch.tensor([math.sin(100_000), math.cos(100_000)]), atol=1e-6, rtol=0)
    far = rope(torch.tensor([[1.0, 0.0]]), pairing="adjacent", positions=torch.tensor([100_000]))
    assert_close(far[0], torch.tensor([math.cos(100_000), math.sin(100_000)]), atol=1e-6, rtol=0)
