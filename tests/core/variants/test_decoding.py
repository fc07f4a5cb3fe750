"""Decoding token by token: equal to the full text under a causal mask; without one every row sees the new token."""

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.analysis.map_statistics import total_variation
from viz.core.attention import attend, row_softmax
from viz.core.heads import share_kv
from viz.core.masks import causal
from viz.core.positions import alibi
from viz.core.variants.decoding import decode, rows_at_length, weight_taken_by_new_token

H, T, D_K, D_V = 6, 11, 5, 3


class TestDecode:
    @pytest.mark.parametrize("G", [1, 2, 3, 6])
    @pytest.mark.parametrize("options", [{}, {"scale": 0.7, "score_mod": torch.tanh}])
    @pytest.mark.parametrize("bias", [None, alibi(H, T, T).double(), draw(T, T, seed=4)], ids=["-", "heads", "one"])
    def test_equals_full_text_at_once(self, G, options, bias):
        q, k, v = draw(H, T, D_K), draw(G, T, D_K, seed=1), draw(G, T, D_V, seed=2)
        full_output = attend(q, share_kv(k, H), share_kv(v, H), allowed=causal(T, T), bias=bias, **options).output
        assert_close(decode(q, k, v, bias=bias, **options), full_output)


class TestNewcomersShare:
    def test_is_how_far_each_row_moves(self):
        scores = 3 * draw(2, T, T)
        share = weight_taken_by_new_token(scores)
        for t in range(1, T):
            before = row_softmax(scores[:, :t, :t])
            after = rows_at_length(scores, t + 1)[:, :t]
            distance = total_variation(after, torch.nn.functional.pad(before, (0, 1)))
            assert_close(share[:, :t, t], distance)
        assert not share.tril().any()

    def test_fully_masked_new_token_gets_nothing(self):
        scores = torch.zeros(3, 3)
        scores[0, :2] = -torch.inf
        assert weight_taken_by_new_token(scores)[0].tolist() == [0.0, 0.0, 1.0]
