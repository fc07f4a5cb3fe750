"""The gated delta rule: state and map against each other, against the other form of the formula, and recall."""

import math

import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.variants.today.delta import (
    decay_steps,
    delta_map,
    delta_outputs,
    delta_states,
    recall_errors,
    to_unit_length,
)
from viz.core.variants.today.linear import linear_map

H, T, D_K, D_V = 3, 7, 5, 11


def tensors():
    q, k = to_unit_length(draw(H, T, D_K)), to_unit_length(draw(H, T, D_K, seed=1))
    v = draw(H, T, D_V, seed=2)
    return q, k, v, {"beta": torch.sigmoid(draw(H, T, seed=3)), "steps": -draw(H, T, seed=4).abs()}


def test_decay_steps_by_hand():
    """softplus(0) is ln 2, and the rate is e to the power of A; each head has its own."""
    x = torch.tensor([[0.0, 1.0], [2.0, -1.0]])
    steps = decay_steps(x, torch.tensor([0.0, math.log(3)]), torch.tensor([0.0, -1.0]))
    want = [[-math.log(2), -math.log(1 + math.e**2)], [-3 * math.log(2), -3 * math.log(1 + math.e**-2)]]
    assert_close(steps, torch.tensor(want))


def test_states_by_other_formula():
    """The paper writes one step as a matrix: S (α (I - β k kᵀ)) + β v kᵀ, transposed to what stands here."""
    q, k, v, gates = tensors()
    states = delta_states(q, k, v, **gates)
    for h in range(H):
        state = torch.zeros(D_V, D_K, dtype=torch.float64)
        for t in range(T):
            beta, alpha, key = gates["beta"][h, t], gates["steps"][h, t].exp(), k[h, t]
            erase = torch.eye(D_K, dtype=torch.float64) - beta * torch.outer(key, key)
            state = alpha * state @ erase + beta * torch.outer(v[h, t], key)
            assert_close(states.output[h, t], state @ q[h, t] / math.sqrt(D_K), atol=1e-12, rtol=0)
        assert_close(states.state[h], state.T, atol=1e-12, rtol=0)


def test_states_and_map_are_equal():
    """Unrolled by one unit lower triangular system it is a map, with cells below 0 and nothing on later tokens."""
    q, k, v, gates = tensors()
    weights = delta_map(q, k, **gates)
    states = delta_states(q, k, v, **gates).output
    assert_close(weights @ v, states, atol=1e-12, rtol=0)
    assert_close(delta_outputs(q, k, v, **gates), states, atol=1e-12, rtol=0)
    assert weights.min() < 0
    assert not weights.triu(1).any()


def test_without_correction_it_is_linear():
    """Leave the correction out, and it is linear attention to β times the values."""
    q, k, v, gates = tensors()
    weights = delta_map(q, k, **gates, corrects=False)
    assert_close(weights, linear_map(q / math.sqrt(D_K), k, gates["steps"]) * gates["beta"][:, None])
    assert_close(weights @ v, delta_states(q, k, v, **gates, corrects=False).output, atol=1e-12, rtol=0)
    assert (weights - delta_map(q, k, **gates)).abs().max() > 0.01


def test_keys_at_right_angles_recall():
    """Without decay and with β = 1 every value comes back, from the state and from the map's last row."""
    keys, v = torch.eye(T, dtype=torch.float64), draw(T, D_V)
    ones, zeros = torch.ones(T, dtype=torch.float64), torch.zeros(T, dtype=torch.float64)
    trace = delta_states(keys, keys, v, beta=ones, steps=zeros)
    assert_close(trace.state, v)
    assert_close(trace.output, v / math.sqrt(T))


def test_repeated_key_has_last_value():
    """With the correction a key that comes again replaces its value; without it both are added up."""
    keys = torch.eye(3, dtype=torch.float64)[[0, 1, 0]]
    v, ones = draw(3, D_V), torch.ones(3, dtype=torch.float64)
    corrected, added = (
        delta_states(keys, keys, v, beta=ones, steps=0 * ones, corrects=corrects).state for corrects in (True, False)
    )
    assert_close(corrected[0], v[2])
    assert_close(added[0], v[0] + v[2])
    assert float(recall_errors(keys, v, corrects=True).max()) < 1e-12
    errors = recall_errors(keys, v, corrects=False)
    assert_close(errors, torch.stack([v[0].norm() / v[2].norm(), errors.new_zeros(()), v[0].norm() / v[2].norm()]))


def test_unit_length():
    """Lengths become 1, and a vector of zeros stays."""
    x = draw(T, D_K)
    assert_close(to_unit_length(x, eps=0.0).norm(dim=-1), torch.ones(T, dtype=torch.float64))
    assert not to_unit_length(torch.zeros(T, D_K)).any()
