"""A mask that depends on the words: scores by loops, and the largest kept."""

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.masks import causal
from viz.core.variants.today.selection import index_scores, lost_shares, top_k_mask

HEADS, Q, K, D = 3, 5, 7, 11


def test_scores_by_loops():
    """Each small head's product, cut off at 0, times the query's weight of the head."""
    q, k, weights = draw(HEADS, Q, D), draw(K, D, seed=1), draw(Q, HEADS, seed=2)
    scores = index_scores(q, k, weights)
    for i in range(Q):
        for j in range(K):
            want = sum(float(weights[i, h]) * max(0.0, float(q[h, i] @ k[j])) for h in range(HEADS))
            assert float(scores[i, j]) == pytest.approx(want, abs=1e-12)


def test_largest_are_kept():
    """The mask has top_k keys, or all open ones if there are fewer; no other key has a larger score."""
    scores, allowed = draw(Q, K), causal(Q, K)
    for top_k in (1, 3, 8):
        mask = top_k_mask(scores, top_k, allowed=allowed)
        assert mask.sum(-1).tolist() == [min(top_k, n) for n in allowed.sum(-1).tolist()]
        assert not (mask & ~allowed).any()
        for i in range(Q):
            other_scores = scores[i][allowed[i] & ~mask[i]]
            assert not len(other_scores) or other_scores.max() <= scores[i][mask[i]].min()


def test_equal_scores_prefer_earlier_key():
    """Equal scores (ReLU makes many zeros) are taken in the order of the text, on every machine."""
    assert top_k_mask(torch.tensor([[0.0, 1.0, 0.0, 0.0]]), 3).tolist() == [[True, True, True, False]]


def test_keeping_none_is_refused():
    """A query needs at least one key."""
    with pytest.raises(ValueError, match=r"^top_k=0 must be at least 1$"):
        top_k_mask(draw(Q, K), 0)


def test_lost_shares_by_hand():
    """Of 0.5, 0.2 and 0.3 the largest alone loses 0.5, the two largest 0.2, all nothing; the order is of no matter."""
    assert_close(lost_shares(torch.tensor([[0.5, 0.2, 0.3]])), torch.tensor([[0.5, 0.2, 0.0]]))


def test_lost_shares_by_masks():
    """The share left out by the mask of k keys, for every k; it never grows with k, and ends at 0."""
    scores, allowed = draw(Q, K), causal(Q, K)
    weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), -1).nan_to_num()
    lost = lost_shares(weights)
    for top_k in range(1, K + 1):
        left_out = weights.masked_fill(top_k_mask(scores, top_k, allowed=allowed), 0).sum(-1)
        assert_close(lost[:, top_k - 1], left_out, atol=1e-12, rtol=0)
    assert (lost.diff(dim=-1) <= 0).all() and (lost[:, -1] == 0).all()


def test_lost_shares_of_masked_row():
    """A row without weights loses nothing."""
    assert lost_shares(torch.zeros(1, 3)).tolist() == [[0, 0, 0]]
