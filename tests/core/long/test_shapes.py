"""Heads built in one of the three shapes get its name; other heads get none."""

import pytest
import torch
from torch.testing import assert_close

from viz.core.long.rows import evenly_spaced
from viz.core.long.shapes import A_SHAPE, BLOCKS, SHAPES, SHORTEST, SLASHES, block_side, fit_shapes, name_of

N = 1021
AT = evenly_spaced(N, 211)
BEHIND = AT[:, None] - torch.arange(N)


def weights_with_mass(mass, *, causal):
    """Return weights concentrated in these cells, with a little on every other cell."""
    generator = torch.Generator().manual_seed(0)
    weights = mass + torch.rand(len(AT), N, generator=generator) / N / 5
    if causal:
        weights = weights.masked_fill(BEHIND < 0, 0.0)
    return weights / weights.sum(1, keepdim=True)


def near_and_first():
    return (BEHIND.abs() <= 9).float() + 5.0 * (torch.arange(N) == 0)


def lines():
    columns = torch.zeros(N).index_fill(0, torch.arange(50, N, 97), 0.2)
    return columns + sum((offset == BEHIND).float() for offset in (31, 150, 400))


def blocks():
    cells = torch.rand(-(-N // 7), -(-N // 7), generator=torch.Generator().manual_seed(1)) < 0.04
    return cells.repeat_interleave(7, 0).repeat_interleave(7, 1)[AT, :N].float()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("shape", "mass"), [(A_SHAPE, near_and_first), (SLASHES, lines), (BLOCKS, blocks)])
def test_head_of_a_shape_has_name(shape, mass, causal):
    fit = fit_shapes(weights_with_mass(mass(), causal=causal), AT, causal=causal)
    assert fit.name == shape
    assert fit.shares[shape] > 0.8
    assert all(fit.even - 0.02 <= share <= 1 + 1e-6 for share in fit.shares.values())


@pytest.mark.parametrize("causal", [True, False])
def test_uniform_weights_match_baseline_without_name(causal):
    weights = torch.ones(len(AT), N).masked_fill((BEHIND < 0) & causal, 0.0)
    fit = fit_shapes(weights / weights.sum(1, keepdim=True), AT, causal=causal)
    assert fit.name == ""
    assert_close(list(fit.shares.values()), [fit.even] * 3, atol=0.011, rtol=0)  # whole blocks: 98 of 102 keys


def test_a_share_is_counted_by_hand():
    """20 words, a budget of 2: the word itself and the first one have all but a tenth of each row."""
    weights = torch.full((20, 20), 0.1 / 18)
    weights[:, 0] = 0.4
    weights.fill_diagonal_(0.5)
    weights[0] = torch.tensor([0.9] + [0.1 / 19] * 19)
    fit = fit_shapes(weights, torch.arange(20), causal=False)
    assert fit.budget == 2
    assert fit.shares[A_SHAPE] == pytest.approx(0.9, abs=1e-6)
    assert fit.even == pytest.approx(0.1)


@pytest.mark.parametrize("n", [1, 2, 5, SHORTEST - 1, SHORTEST])
def test_single_cell_blocks_have_no_shape(n):
    fit = fit_shapes(torch.eye(n), torch.arange(n), causal=True)
    assert (fit.name == "") == (block_side(n) == 1)
    assert set(fit.shares) == set(SHAPES)


def test_shape_covering_all_has_no_name():
    assert name_of(dict.fromkeys(SHAPES, 1.0), even=1.0) == ""
