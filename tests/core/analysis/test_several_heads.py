"""Two positions at once, and the comparisons of heads: by a loop, by NumPy's least squares and SVD."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from tests.largest import Largest
from viz.core.analysis.several_heads import (
    head_distances,
    lost,
    neighbours,
    offset_scores,
    pattern_share,
    score_form,
)
from viz.core.attention import row_softmax


class TestOffsetScores:
    def test_rows_hold_existing_shares(self):
        shares, n = {-2: 0.2, 0: 0.5, 3: 0.3}, 11
        weights = row_softmax(offset_scores(n, shares))
        for i in range(n):
            there = {i + offset: share for offset, share in shares.items() if 0 <= i + offset < n}
            for j in range(n):
                assert weights[i, j] == pytest.approx(there.get(j, 0) / sum(there.values()))

    def test_zero_share_has_no_weight(self):
        assert row_softmax(offset_scores(2, {-1: 1.0, 1: 0.0})).tolist() == [[0, 0], [1, 0]]


class TestLost:
    def test_equals_numpy_least_squares(self):
        read, target = draw(29, 5), draw(29, 3, seed=1)
        _, residual, *_ = np.linalg.lstsq(read.numpy(), target.numpy(), rcond=None)
        assert float(lost(read, target)) == pytest.approx(residual.sum() / target.square().sum().item(), rel=1e-9)

    def test_one_head_loses_half_two_none(self):
        """Of 509 words less 2 with 7 numbers each; chance lets a read-out of 7 numbers explain about 7 / 507 more."""
        x = draw(509, 7)
        mean = row_softmax(offset_scores(509, {-1: 0.3, 1: 0.7})) @ x
        two = torch.cat([row_softmax(offset_scores(509, {offset: 1.0})) @ x for offset in (-1, 1)], dim=-1)
        assert float(lost(mean[1:-1], neighbours(x))) == pytest.approx(0.5, abs=0.05)
        assert lost(two[1:-1], neighbours(x)) < 1e-25
        assert_close(two[1:-1], neighbours(x))


def test_form_has_scores_of_queries_keys():
    """The bilinear form gives the scores of queries and keys and has no higher rank."""
    x, w_q, w_k = draw(5, 13), draw(13, 3, seed=1), draw(13, 3, seed=2)
    form = score_form(w_q, w_k)
    assert_close(x @ form @ x.T, (x @ w_q) @ (x @ w_k).T)
    singular = np.linalg.svd(form.numpy(), compute_uv=False)
    assert (singular > 1e-10 * singular[0]).sum() == 3
    assert math.isclose(singular[0], float(torch.linalg.matrix_norm(form, 2)), rel_tol=1e-9)


class TestPatternShare:
    TARGET = torch.tensor([[0, 0, 0], [1, 0, 0], [1, 1, 0]]).bool()

    def test_against_numpy_row_by_row(self):
        weights, target = row_softmax(draw(3, 7, 11, seed=2)), draw(7, 11, seed=3) > 0.8
        rows = [i for i in range(7) if target[i].any()]
        expected = [np.mean([head[i][target[i].numpy()].sum() for i in rows]) for head in weights.numpy()]
        assert_close(pattern_share(weights, target), torch.tensor(expected))


def test_head_distances_use_little_memory():
    """All pairs of maps at once would take 300 MB for 12 heads on 512 tokens."""
    weights = torch.rand(7, 11, 13).softmax(-1)
    with Largest() as largest:
        distances = head_distances(weights)
    assert largest.numbers <= weights.numel()
    assert_close(distances, (weights[:, None] - weights[None]).abs().sum(-1).mean(-1) / 2)
