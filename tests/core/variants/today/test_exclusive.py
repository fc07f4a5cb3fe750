"""Exclusive self-attention: by hand, orthogonal to the own value, as a map, and no struck-out diagonal."""

import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.attention import attend
from viz.core.masks import causal
from viz.core.variants.today.exclusive import exclude_own_value, exclusive_map

H, T, D = 3, 7, 5


def heads():
    """Weights (H, T, T) behind a causal mask, and values (H, T, D)."""
    v = draw(H, T, D, seed=2)
    return attend(draw(H, T, D), draw(H, T, D, seed=1), v, allowed=causal(T, T)).weights, v


def test_own_value_by_hand():
    """Of (3, 4) half of what lies along (1, 1) goes: its mean, 3.5, by halves."""
    output = exclude_own_value(torch.tensor([[3.0, 4.0]]), torch.tensor([[2.0, 2.0]]), share=0.5)
    assert_close(output, torch.tensor([[1.25, 2.25]]))


def test_rest_is_orthogonal_to_value():
    """With a share of 1 nothing is left along the own value; with 0 everything, in each head by its own share."""
    weights, v = heads()
    share = torch.tensor([1.0, 0.0, 0.25], dtype=v.dtype)[:, None, None]
    before, after = weights @ v, exclude_own_value(weights @ v, v, share=share)
    assert_close((after * v).sum(-1), (1 - share[..., 0]) * (before * v).sum(-1), atol=1e-12, rtol=0)


def test_map_gives_the_same():
    """The other cells stay, and the own one becomes minus what the others brought, word by word."""
    weights, v = heads()
    exclusive = exclusive_map(weights, v)
    assert_close(exclusive @ v, exclude_own_value(weights @ v, v), atol=1e-12, rtol=0)
    for h in range(H):
        for i in range(T):
            brought = sum(weights[h, i, j] * (v[h, j] @ v[h, i]) for j in range(T) if j != i) / v[h, i].square().sum()
            assert_close(exclusive[h, i, i], torch.as_tensor(-brought, dtype=v.dtype), atol=1e-12, rtol=0)
    assert torch.equal(exclusive.tril(-1), weights.tril(-1))


def test_not_a_closed_diagonal():
    """Two words of the same value, half of the weight on each: nothing is left, where a closed own cell leaves all."""
    weights, v = torch.full((2, 2), 0.5), torch.ones(2, 1)
    assert (exclude_own_value(weights @ v, v) == 0).all()
    assert (torch.tensor([[0.0, 1.0], [1.0, 0.0]]) @ v == 1).all()


def test_value_without_length_takes_nothing():
    """A value of 0 has no direction."""
    output = draw(T, D)
    assert torch.equal(exclude_own_value(output, torch.zeros(T, D, dtype=output.dtype)), output)
