"""Rollout, every path one by one, and its layers by hand."""

from itertools import product

import torch
from torch.testing import assert_close

from viz.core.analysis.rollout import rollout, with_residual


def random_maps(L=3, T=5, sharpness=3.0, seed=0):
    scores = sharpness * torch.randn(L, T, T, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.softmax(scores, -1)


class TestResidual:
    def test_by_hand(self):
        heads = torch.tensor([[[1.0, 0.0], [0.4, 0.6]], [[0.0, 1.0], [0.0, 1.0]]])
        assert_close(with_residual(heads), torch.tensor([[0.75, 0.25], [0.1, 0.9]]))

    def test_empty_row_stays_with_its_token(self):
        heads = torch.tensor([[[0.0, 0.0], [1.0, 0.0]]])
        assert_close(with_residual(heads), torch.tensor([[1.0, 0.0], [0.5, 0.5]]))


class TestRollout:
    def test_rollout_equals_sum_over_paths(self):
        maps = random_maps()
        total = torch.zeros(5, 5, dtype=torch.float64)
        for top, upper, lower, word in product(range(5), repeat=4):
            total[top, word] += maps[2, top, upper] * maps[1, upper, lower] * maps[0, lower, word]
        assert_close(rollout(maps)[-1], total)
