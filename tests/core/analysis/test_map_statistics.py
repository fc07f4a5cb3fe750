"""One number from a map: at its extremes, and by another way of computing it."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from viz.core.analysis import map_statistics
from viz.core.attention import attend
from viz.core.masks import causal


def random_map(*batch: int, n_queries: int = 5, n_keys: int = 7, seed: int = 0) -> Tensor:
    scores = torch.randn(*batch, n_queries, n_keys, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return scores.softmax(-1)


class TestEntropy:
    def test_fully_masked_row_has_none(self):
        assert map_statistics.entropy(torch.zeros(1, 7)).item() == 0


class TestDistanceWithout:
    @pytest.mark.parametrize("hidden", [[], [0], [0, 10], [3, 4, 7], list(range(11))])
    def test_equals_distance_after_hiding(self, hidden):
        generator = torch.Generator().manual_seed(5)
        scores = 3 * torch.randn(2, 3, 11, 11, generator=generator, dtype=torch.float64)
        weights = scores.masked_fill(~causal(11, 11), -torch.inf).softmax(-1)
        weights[0, 0, 5] = 0  # a fully masked row
        away = torch.zeros(11, dtype=torch.bool)
        away[hidden] = True
        visible = map_statistics.hide(weights, ~away, ~away)
        assert_close(map_statistics.distance_without(weights, away), map_statistics.distance(visible))


class TestUniform:
    def test_matches_query_without_matching_key(self):
        allowed = causal(5, 7) & (torch.arange(7) != 2)
        trace = attend(torch.zeros(5, 3), torch.ones(7, 3), torch.ones(7, 1), allowed=allowed)
        assert_close(map_statistics.uniform(allowed), trace.weights)

    def test_fully_masked_row_stays_empty(self):
        assert map_statistics.uniform(torch.tensor([[False, False]])).tolist() == [[0, 0]]


class TestTotalVariation:
    def test_is_weight_that_has_to_move(self):
        a, b = random_map(seed=0), random_map(seed=1)
        assert_close(map_statistics.total_variation(a, b), (a - b).clamp(min=0).sum(-1))


class TestJacobianNorm:
    def test_against_the_matrix_and_against_autograd(self):
        scores = torch.randn(7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        p = scores.softmax(-1)
        norm = map_statistics.jacobian_norm(p[None])[0]
        assert_close(norm, (torch.diag(p) - torch.outer(p, p)).norm())
        by_autograd = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
        assert_close(norm, by_autograd.norm())


class TestMessageNorms:
    def test_by_a_loop(self):
        generator = torch.Generator().manual_seed(0)
        v = torch.randn(2, 3, 5, 7, generator=generator, dtype=torch.float64)
        w_o = torch.randn(3, 7, 11, generator=generator, dtype=torch.float64)
        norms = map_statistics.message_norms(v, w_o)
        assert norms.shape == (2, 3, 5)
        assert_close(norms[1, 2, 4], (v[1, 2, 4] @ w_o[2]).square().sum().sqrt())


class TestMergeWords:
    WORDS = torch.tensor([0, 1, 1, 2, 2])
    KEYS = torch.tensor([0, 1, 1, 1, 2, 3, 3])

    def test_by_a_loop(self):
        weights = random_map(2)
        merged = map_statistics.merge_words(weights, self.WORDS, self.KEYS)
        assert merged.shape == (2, 3, 4)
        for i in range(3):
            for j in range(4):
                cells = weights[:, i == self.WORDS][..., j == self.KEYS]
                assert_close(merged[:, i, j], cells.sum(-1).mean(-1))

    def test_scores_average_leaves_out_masked_pairs(self):
        scores = random_map(2).log().masked_fill(~causal(5, 7)[:, torch.arange(7)], -torch.inf)
        scores[:, 0] = -torch.inf
        merged = map_statistics.mean_words(scores, self.WORDS, self.KEYS)
        for i in range(3):
            for j in range(4):
                cells = scores[:, i == self.WORDS][..., j == self.KEYS].flatten(1)
                for b in range(2):
                    open_cells = cells[b][cells[b].isfinite()]
                    expected = open_cells.mean() if len(open_cells) else torch.tensor(-torch.inf, dtype=cells.dtype)
                    assert_close(merged[b, i, j], expected)
        assert (merged[:, 0] == -torch.inf).all()


class TestHide:
    KEEP = torch.tensor([False, True, True, True, False])
    KEEP_KEYS = torch.tensor([False, True, True, True, True, True, False])

    def test_is_attention_without_those_keys(self):
        """Softmax over fewer keys is the same shares, renormalised."""
        generator = torch.Generator().manual_seed(0)
        q, k, v = (torch.randn(n, 3, generator=generator, dtype=torch.float64) for n in (5, 7, 7))
        hidden = map_statistics.hide(attend(q, k, v).weights, self.KEEP, self.KEEP_KEYS)
        assert_close(hidden, attend(q[1:4], k[1:6], v[1:6]).weights)
