"""Scoring functions: a loop as reference, and their costs as counted by torch."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from tests.core.tensors import draw
from viz.core.attention import row_softmax
from viz.core.variants.scoring import AdditiveWeights, additive, dot, scaled_dot, scorings

H, Q, K, D_Q, D_K, HIDDEN = 2, 3, 5, 7, 11, 13


def weights() -> AdditiveWeights:
    return AdditiveWeights(w_q=draw(D_Q, HIDDEN, seed=1), w_k=draw(D_K, HIDDEN, seed=2), w_v=draw(HIDDEN, seed=3))


def test_additive_equals_loop():
    q, k, w = draw(H, Q, D_Q), draw(H, K, D_K, seed=4), weights()
    scores = additive(q, k, w)
    assert scores.shape == (H, Q, K)
    for h in range(H):
        for i in range(Q):
            for j in range(K):
                hidden = [
                    math.tanh(
                        sum(float(q[h, i, c] * w.w_q[c, u]) for c in range(D_Q))
                        + sum(float(k[h, j, c] * w.w_k[c, u]) for c in range(D_K))
                    )
                    for u in range(HIDDEN)
                ]
                want = sum(float(w.w_v[u]) * hidden[u] for u in range(HIDDEN))
                assert_close(float(scores[h, i, j]), want, atol=1e-12, rtol=1e-12)


def test_scaled_dot_product_equals_torch():
    q, k, v = draw(H, Q, D_Q), draw(H, K, D_Q, seed=4), draw(H, K, D_K, seed=5)
    assert_close(row_softmax(scaled_dot(q, k)) @ v, scaled_dot_product_attention(q, k, v))
    assert_close(dot(q, k), torch.einsum("hid,hjd->hij", q, k))


def test_only_dot_product_requires_equal_widths():
    for score in (dot, scaled_dot):
        with pytest.raises(ValueError, match="equal widths, and here d_q=7, d_k=11"):
            score(draw(Q, D_Q), draw(K, D_K))
    assert additive(draw(Q, D_Q), draw(K, D_K), weights()).shape == (Q, K)


@pytest.mark.parametrize("name", ["dot", "scaled_dot", "additive"])
def test_costs_equal_parameters_and_torch_count(name):
    d_k = D_K if name == "additive" else D_Q
    w = AdditiveWeights.random(D_Q, d_k, HIDDEN, seed=0)
    cost = scorings(d_q=D_Q, d_k=d_k, n_queries=Q, n_keys=K, weights=w)[name]
    q, k = torch.randn(Q, D_Q), torch.randn(K, d_k)
    with FlopCounterMode(display=False) as counter:
        scores = cost.score(q, k)
    assert scores.shape == (Q, K)
    # torch counts products of matrices, and w_v is a vector: by hand, two for each pair and hidden number
    by_hand = 2 * Q * K * HIDDEN if name == "additive" else 0
    assert cost.flops.total == counter.get_total_flops() + by_hand
    assert cost.parameters == (sum(t.numel() for t in vars(w).values()) if name == "additive" else 0)
    assert cost.tanhs == cost.n_stored == (Q * K * HIDDEN if name == "additive" else 0)


def test_seeds_decide():
    first, again, second = (AdditiveWeights.random(D_Q, D_K, HIDDEN, seed=s) for s in (0, 0, 1))
    assert torch.equal(first.w_q, again.w_q) and not torch.equal(first.w_q, second.w_q)
    assert not torch.equal(first.w_q[:3, :3], first.w_k[:3, :3])
    assert abs(float(AdditiveWeights.random(400, 3, 50, seed=0).w_q.std()) - 1 / 20) < 0.002
