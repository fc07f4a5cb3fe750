"""Rollout and flow against values worked by hand, every path one by one, and every cut of the network."""

from itertools import product

import pytest
import torch
from torch.testing import assert_close

from viz.core.analysis.rollout import flow, rollout, with_residual

HAND = torch.tensor([[[1.0, 0.0], [0.5, 0.5]], [[0.4, 0.6], [0.2, 0.8]]])
"""Two layers of two tokens, the lowest first."""


def random_maps(L=3, T=5, sharpness=3.0, seed=0):
    scores = sharpness * torch.randn(L, T, T, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.softmax(scores, -1)


class TestResidual:
    def test_by_hand(self):
        heads = torch.tensor([[[1.0, 0.0], [0.4, 0.6]], [[0.0, 1.0], [0.0, 1.0]]])
        assert_close(with_residual(heads), torch.tensor([[0.75, 0.25], [0.1, 0.9]]))

    def test_a_row_that_looks_nowhere_stays_with_its_token(self):
        heads = torch.tensor([[[0.0, 0.0], [1.0, 0.0]]])
        assert_close(with_residual(heads), torch.tensor([[1.0, 0.0], [0.5, 0.5]]))

    def test_every_layer_by_itself(self):
        maps = random_maps(6, 5).unflatten(0, (2, 3))
        mixed = with_residual(maps)
        assert_close(mixed.sum(-1), torch.ones(2, 5, dtype=torch.float64))
        assert_close(mixed[1], with_residual(maps[1]))


class TestRollout:
    def test_by_hand(self):
        """0.4 (1, 0) + 0.6 (0.5, 0.5) = (0.7, 0.3), and 0.2 (1, 0) + 0.8 (0.5, 0.5) = (0.6, 0.4)."""
        assert_close(rollout(HAND), torch.stack([HAND[0], torch.tensor([[0.7, 0.3], [0.6, 0.4]])]))

    def test_every_path_one_by_one(self):
        maps = random_maps()
        total = torch.zeros(5, 5, dtype=torch.float64)
        for top, upper, lower, word in product(range(5), repeat=4):
            total[top, word] += maps[2, top, upper] * maps[1, upper, lower] * maps[0, lower, word]
        assert_close(rollout(maps)[-1], total)

    def test_rows_sum_to_one_in_every_layer(self):
        assert_close(rollout(random_maps(7, 11)).sum(-1), torch.ones(7, 11, dtype=torch.float64))

    def test_causal_layers_give_a_causal_rollout(self):
        causal = random_maps().tril()
        found = rollout(causal / causal.sum(-1, keepdim=True))
        assert not found.triu(1).any()
        assert (found.tril() > 0).sum() == 3 * 15


def smallest_cut(maps, query, word):
    """What every cut between the two lets through, the least of them: the flow, by Ford and Fulkerson's theorem."""
    L, T, _ = maps.shape
    start, end = (L, query), (0, word)
    others = [node for node in product(range(L + 1), range(T)) if node not in (start, end)]
    found = []
    for sides in product((True, False), repeat=len(others)):
        above = {start: True, end: False} | dict(zip(others, sides, strict=True))
        edges = product(range(L), range(T), range(T))
        found.append(
            sum(maps[layer, q, k].item() for layer, q, k in edges if above[layer + 1, q] and not above[layer, k])
        )
    return min(found)


class TestFlow:
    def test_by_hand(self):
        """To word 0, 0.4 go by token 0 and 0.5 of the 0.6 by token 1; to word 1 only that token's 0.5."""
        assert_close(flow(HAND, 0), torch.tensor([0.9, 0.5]))
        assert_close(flow(HAND, 1), torch.tensor([0.7, 0.5]))

    @pytest.mark.parametrize("query", [0, 1, 2])
    def test_the_smallest_of_all_cuts(self, query):
        maps = random_maps(2, 3)
        cuts = torch.tensor([smallest_cut(maps, query, word) for word in range(3)], dtype=torch.float64)
        assert_close(flow(maps, query), cuts, atol=18 / 2**31, rtol=0)  # half a unit for each edge

    def test_of_one_layer_it_is_the_map(self):
        maps = random_maps(1, 7)
        assert_close(flow(maps, 3), maps[0, 3], atol=1e-8, rtol=0)

    def test_at_least_the_rollout_and_at_most_everything(self):
        maps = with_residual(random_maps(10, 13).unflatten(0, (5, 2)))
        found = torch.stack([flow(maps, query) for query in range(13)])
        assert (found >= rollout(maps)[-1] - 1e-6).all()
        assert found.max() <= 1
        assert found.sum(-1).min() > 1.5, "rows are no shares"

    def test_a_bottleneck(self):
        """Everything from token 1 passes one edge of 0.1."""
        maps = torch.tensor([[[1.0, 0.0], [0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0]]])
        assert_close(flow(maps, 1), torch.tensor([0.1, 0.9]))
