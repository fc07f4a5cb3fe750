"""Linear attention with decay: the state and the map against each other and against a sum over pairs."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.variants.today.linear import decay_map, lightning_slopes, linear_map, linear_states

H, T, D_K, D_V = 3, 7, 5, 11


def tensors():
    q, k, v = draw(H, T, D_K), draw(H, T, D_K, seed=1), draw(H, T, D_V, seed=2)
    return q, k, v, -draw(H, T, seed=3).abs()


def test_slopes_by_hand():
    """Two heads: 2 to the power of -4 and -8; half of that in the middle of three layers."""
    assert_close(lightning_slopes(2, layer=0, n_layers=3), torch.tensor([1 / 16, 1 / 256]), atol=1e-5, rtol=0)
    assert_close(lightning_slopes(2, layer=1, n_layers=3), torch.tensor([1 / 32, 1 / 512]), atol=1e-5, rtol=0)
    assert 0 < lightning_slopes(2, layer=2, n_layers=3).max() < 1e-5
    assert lightning_slopes(1, layer=0, n_layers=1).isfinite().all()


def test_decay_by_loops():
    """An entry written at j decays at every later token, up to and including i."""
    steps = tensors()[3]
    decay = decay_map(steps)
    for h in range(H):
        for i in range(T):
            for j in range(T):
                want = math.exp(sum(float(steps[h, m]) for m in range(j + 1, i + 1))) if j <= i else 0.0
                assert float(decay[h, i, j]) == pytest.approx(want, rel=1e-12)


def test_states_and_map_are_equal():
    """The state, token by token, gives what the map gives at once; both what the sum over pairs gives."""
    q, k, v, steps = tensors()
    trace = linear_states(q, k, v, steps)
    assert_close(linear_map(q, k, steps) @ v, trace.output, atol=1e-12, rtol=0)
    for h in range(H):
        for i in range(T):
            want = sum(
                math.exp(float(steps[h, j + 1 : i + 1].sum())) * (q[h, i] @ k[h, j]) * v[h, j] for j in range(i + 1)
            )
            assert_close(trace.output[h, i], want, atol=1e-12, rtol=0)


def test_state_is_small_at_any_length():
    """d_k x d_v numbers, the decayed sum of what was read."""
    q, k, v, steps = tensors()
    state = linear_states(q, k, v, steps).state
    assert state.shape == (H, D_K, D_V)
    remaining_weight = decay_map(steps)[:, -1]
    assert_close(state, torch.einsum("ht,htk,htv->hkv", remaining_weight, k, v), atol=1e-12, rtol=0)
