"""Differential attention: by loops, its rows' sums and its norm."""

import math

import torch
from torch.nn.functional import rms_norm
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.masks import causal
from viz.core.variants.today.differential import attend_differential, initial_share, learned_share, norm_difference

H, Q, K, D_K, D_V = 2, 5, 7, 3, 11


def tensors():
    shapes = [(H, Q, D_K), (H, K, D_K), (H, Q, D_K), (H, K, D_K), (H, K, D_V)]
    return [draw(*shape, seed=seed) for seed, shape in enumerate(shapes)]


def test_shares_by_hand():
    """0.2 in the first layer, nearly 0.8 in the last ones; then the learned part is added."""
    assert initial_share(0) == 0.8 - 0.6
    assert math.isclose(initial_share(7), 0.8 - 0.6 * math.exp(-2.1))
    assert initial_share(100) < 0.8
    q_1, k_1 = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 0.25])
    q_2, k_2 = torch.tensor([1.0, -1.0]), torch.tensor([1.0, 0.5])
    assert_close(learned_share(q_1, k_1, q_2, k_2, start=0.2), torch.tensor(math.e - math.sqrt(math.e) + 0.2))


def test_difference_by_loops():
    """Each map has a softmax of its own, behind the same mask."""
    q_1, k_1, q_2, k_2, v = tensors()
    share, allowed = 0.37, causal(Q, K)
    trace = attend_differential(q_1, k_1, q_2, k_2, v, share=share, allowed=allowed)
    for h in range(H):
        for i in range(Q):
            visible_keys = range(i + K - Q + 1)
            rows = []
            for q, k in ((q_1, k_1), (q_2, k_2)):
                powers = [math.exp(float(q[h, i] @ k[h, j]) / math.sqrt(D_K)) for j in visible_keys]
                rows.append([power / sum(powers) for power in powers])
            want = sum((a - share * b) * v[h, j] for j, a, b in zip(visible_keys, *rows, strict=True))
            assert_close(trace.output[h, i], want, atol=1e-12, rtol=0)


def test_rows_sum_to_rest():
    """Rows sum to 1 minus the share, and some cells are below 0."""
    trace = attend_differential(*tensors(), share=0.6)
    assert_close(trace.weights.sum(-1), torch.full((H, Q), 0.4, dtype=torch.float64))
    assert trace.weights.min() < 0


def test_norm_of_difference_equals_torch():
    """Each head's rows have the root mean square 1 minus the share a layer begins with."""
    rows = draw(H, Q, D_V)
    want = (1 - 0.37) * rms_norm(rows, (D_V,), eps=1e-5)
    assert_close(norm_difference(rows, start=0.37), want)
