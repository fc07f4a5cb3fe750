"""Every encoding with the same heads: the dependence on order, on distance, and on neither."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from viz.core.heads import HeadWeights, multi_head
from viz.core.positions import alibi, offsets, rope, sinusoidal
from viz.core.spec import AttentionSpec
from viz.core.variants.encodings import (
    Encoding,
    content_bias,
    encode,
    encodings,
    learned,
    offset_profile,
    shuffled,
    window,
)

T, SPEC = 13, AttentionSpec(d_model=22, n_heads=3, n_kv_heads=1, d_head=14, d_value=5)
WEIGHTS = HeadWeights.random(SPEC, seed=0)
ROWS = torch.randn(31, 22, generator=torch.Generator().manual_seed(3))


def all_encodings(rows=ROWS):
    return encodings(base=50.0, alpha=0.7, delta=-1.0, seed=0, rows=rows)


def tokens(n=T, seed=1):
    return torch.randn(n, SPEC.d_model, generator=torch.Generator().manual_seed(seed))


def run(encoding, x):
    return encode(x + encoding.table(*x.shape), WEIGHTS, encoding)


@pytest.mark.parametrize("code", ["rope_adjacent", "rope_halves", "alibi", "t5", "quadratic"])
def test_relative_encodings_know_the_offset_alone(code):
    """Of equal words nothing but the place differs: every diagonal is constant, unless the table is absolute."""
    scores = run(all_encodings()[code], tokens(1).expand(T, -1)).masked
    profile = offset_profile(scores)
    assert_close(profile.spread, torch.zeros_like(profile.spread), atol=2e-5, rtol=0)
    assert profile.mean.std() > 0.01
    absolute = offset_profile(run(all_encodings()["learned"], tokens(1).expand(T, -1)).masked)
    assert absolute.spread.max() > 0.1


def test_quadratic_is_equal_in_heads():
    bias = window(0.7, -1.0, 3, 4, 6)
    assert_close(bias, (-0.7 * (offsets(4, 6) + 1.0).square()).expand(3, -1, -1))


def test_content_bias_by_loops():
    """Pair by pair; a long state is shortened, later keys and those beyond the reach get nothing."""
    states, profiles = 4 * tokens(7)[:, :5].view(7, 5).expand(2, -1, -1).contiguous(), tokens(5, seed=2)[:, :4]
    states[1] *= 0.1
    bias = content_bias(states, profiles)
    for h in range(2):
        for i in range(7):
            length = float(states[h, i].norm())
            for j in range(7):
                want = float(states[h, i] @ profiles[:, i - j]) * min(1, 8 / length) if 0 <= i - j < 4 else 0.0
                assert float(bias[h, i, j]) == pytest.approx(want, abs=1e-5)
    assert (states.norm(dim=-1) > 8).any() and (states.norm(dim=-1) < 8).any()


def test_encoding_enters_at_its_stage():
    x, by_name = tokens(), all_encodings()
    q, k, v = (
        (x @ w).unflatten(-1, (h, -1)).transpose(0, 1)
        for w, h in ((WEIGHTS.w_q, 3), (WEIGHTS.w_k, 1), (WEIGHTS.w_v, 1))
    )
    rotated = {name: rope(part, base=50.0, pairing="halves") for name, part in (("q", q), ("k", k))}
    expected = scaled_dot_product_attention(rotated["q"], rotated["k"], v, enable_gqa=True)
    assert_close(run(by_name["rope_halves"], x).head_outputs, expected)
    expected = scaled_dot_product_attention(q, k, v, attn_mask=alibi(3, T, T), enable_gqa=True)
    assert_close(run(by_name["alibi"], x).head_outputs, expected)
    added = x + sinusoidal(T, 22, base=50.0)
    assert_close(run(by_name["sinusoidal"], x).output, multi_head(added, added, WEIGHTS).output)
    assert_close(run(by_name["learned"], x).output, multi_head(x + ROWS[:T], x + ROWS[:T], WEIGHTS).output)


def test_a_table_can_be_scaled():
    scaled = all_encodings()["sinusoidal"].scale_table(0.25)
    assert_close(scaled.table(7, 22), 0.25 * sinusoidal(7, 22, base=50.0))
    assert scaled.bias is all_encodings()["none"].bias
    assert Encoding(bias=alibi).scale_table(2.0).bias is alibi


def test_a_learned_table_ends():
    assert_close(learned(ROWS, 31, 22), ROWS)
    with pytest.raises(ValueError, match="n_positions=32 is beyond"):
        learned(ROWS, 32, 22)
    with pytest.raises(ValueError, match="d_model=23"):
        learned(ROWS, 7, 23)
    assert "learned" not in all_encodings(rows=None)


def test_offset_profile_of_a_rectangle():
    scores = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(0))
    profile = offset_profile(scores)
    assert profile.offset.tolist() == list(range(-4, 7))
    where = torch.arange(7) - torch.arange(5)[:, None]
    for i, k in enumerate(profile.offset.tolist()):
        cells = scores[:, where == k]
        assert_close(profile.mean[:, i], cells.mean(-1))
        assert_close(profile.spread[:, i], (cells - cells.mean(-1, keepdim=True)).square().mean(-1).sqrt())


@pytest.mark.parametrize("seed", range(2))
def test_shuffle_keeps_fixed_moves_others(seed):
    order = shuffled(11, seed, frozenset({0, 10}))
    assert sorted(order.tolist()) == list(range(11))
    assert order[0] == 0
    assert order[10] == 10
    assert not torch.equal(order, torch.arange(11))
    assert shuffled(2, seed).tolist() == [1, 0]
    assert shuffled(1, seed).tolist() == [0]
    assert shuffled(3, seed, frozenset({0, 1, 2})).tolist() == [0, 1, 2]
