"""Sharing keys and values: the assignment of groups, the classic mistake, pooling, one step of decoding."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.attention import attend
from viz.core.heads import share_kv
from viz.core.masks import causal
from viz.core.variants import kv_sharing

H, T, D_K, D_V = 12, 7, 5, 3


def qkv(n_kv_heads):
    return draw(H, T, D_K), draw(n_kv_heads, T, D_K, seed=1), draw(n_kv_heads, T, D_V, seed=2)


def test_divisors():
    assert kv_sharing.divisors(1) == [1]
    assert kv_sharing.divisors(71) == [1, 71]
    assert kv_sharing.divisors(H) == [g for g in range(1, H + 1) if H // g * g == H]


class TestWhoReadsWhom:
    def test_by_hand(self):
        assert kv_sharing.kv_head_of(8, 2) == [0, 0, 0, 0, 1, 1, 1, 1]
        assert kv_sharing.kv_head_of(8, 2, kv_sharing.repeat_kv) == [0, 1, 0, 1, 0, 1, 0, 1]

    @pytest.mark.parametrize("G", kv_sharing.divisors(H))
    def test_floor_of_i_g_over_h(self, G):
        assert kv_sharing.kv_head_of(H, G) == [i * G // H for i in range(H)]


class TestAttendShared:
    @pytest.mark.parametrize("G", kv_sharing.divisors(H))
    def test_equals_torch(self, G):
        q, k, v = qkv(G)
        reference = scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]
        assert_close(kv_sharing.attend_shared(q, k, v).output, reference)

    def test_one_set_is_mqa_written_separately(self):
        q, k, v = qkv(1)
        mask = torch.zeros(T, T, dtype=torch.float64).masked_fill(~causal(T, T), -torch.inf)
        assert_close(
            kv_sharing.attend_mqa(q, k[0], v[0], masked_by=mask),
            kv_sharing.attend_shared(q, k, v, allowed=causal(T, T)).output,
        )

    @pytest.mark.parametrize("G", kv_sharing.divisors(H))
    def test_classic_mistake_has_right_shapes(self, G):
        q, k, v = qkv(G)
        right, wrong = kv_sharing.attend_shared(q, k, v), kv_sharing.attend_shared(q, k, v, share=kv_sharing.repeat_kv)
        assert wrong.weights.shape == right.weights.shape
        off = float((wrong.output - right.output).abs().max())
        assert off < 1e-12 if G in (1, H) else off > 0.5  # 1 and H groups have one possible order
        assert_close(wrong.output, attend(q, k.repeat(H // G, 1, 1), v.repeat(H // G, 1, 1)).output)


class TestDecodeStep:
    @pytest.mark.parametrize("G", kv_sharing.divisors(H))
    def test_is_last_row_of_full_text(self, G):
        q, k, v = qkv(G)
        full_output = attend(q, share_kv(k, H), share_kv(v, H), allowed=causal(T, T)).output
        assert_close(kv_sharing.decode_step(q[:, -1], k, v), full_output[:, -1])


class TestInduction:
    def test_by_loops(self):
        ids = torch.randint(4, (17,), generator=torch.Generator().manual_seed(0))
        slow = [[0 < j <= i and int(ids[j - 1] == ids[i]) for j in range(17)] for i in range(17)]
        # a token is its own earlier mention for j = i + 1 only, which lies ahead
        assert kv_sharing.after_earlier_mention(ids).tolist() == [[bool(cell) for cell in row] for row in slow]

    def test_perfect_and_none(self):
        ids = torch.tensor([3, 5, 3, 5])
        keys = kv_sharing.after_earlier_mention(ids).float()
        assert float(kv_sharing.induction(keys[None], ids)) == 1.0
        assert float(kv_sharing.induction(torch.eye(4)[None], ids)) == 0.0
        assert kv_sharing.induction(torch.eye(3)[None], torch.tensor([1, 2, 3])).isnan()
