"""Sinks: values by hand, the column and the gate against each other and against loops."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.attention import attend, softmax_with_sink
from viz.core.masks import causal
from viz.core.variants.today.sinks import first_token_share, gate_by_sink, softmax_off_by_one, word_share

H, Q, K, D_K, D_V = 3, 5, 7, 11, 2
SINK = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64)


def test_off_by_one_by_hand():
    """Scores 0 and ln 3 weigh 1 and 3, and the sink weighs 1."""
    scores = torch.tensor([[0.0, math.log(3)], [-torch.inf, -torch.inf]])
    assert_close(softmax_off_by_one(scores), torch.tensor([[0.2, 0.6], [0.0, 0.0]]))


def test_column_and_gate_are_equal():
    """One more column in the softmax, and a gate by the row's log-sum-exp, give the same outputs, those of a loop."""
    q, k, v = draw(H, Q, D_K), draw(H, K, D_K, seed=1), draw(H, K, D_V, seed=2)
    allowed = causal(Q, K)
    column = attend(q, k, v, allowed=allowed, sink=SINK)
    plain = attend(q, k, v, allowed=allowed)
    assert_close(gate_by_sink(plain.output, plain.masked, SINK), column.output, atol=1e-12, rtol=0)
    for h in range(H):
        for i in range(Q):
            visible_keys = range(i + K - Q + 1)
            powers = {j: math.exp(float(q[h, i] @ k[h, j]) / math.sqrt(D_K)) for j in visible_keys}
            total = math.exp(float(SINK[h])) + sum(powers.values())
            want = sum(powers[j] / total * v[h, j] for j in visible_keys)
            assert_close(column.output[h, i], want, atol=1e-12, rtol=0)


def test_row_lacks_weight_of_sink():
    """A row with a sink sums to its words' share, which falls as the sink rises."""
    scores = draw(H, Q, K)
    weights = softmax_with_sink(scores, SINK)
    assert_close(weights.sum(-1), word_share(scores, SINK), atol=1e-12, rtol=0)
    assert (word_share(scores, SINK + 1) < word_share(scores, SINK)).all()
    assert_close(weights / weights.sum(-1, keepdim=True), scores.softmax(-1))


def test_sink_of_minus_infinity():
    """Words get the whole row, and nothing where there are no words."""
    scores = draw(H, Q, K)
    scores[1, 2] = -torch.inf
    share = word_share(scores, torch.full((H,), -torch.inf, dtype=torch.float64))
    assert share[1, 2] == 0 and share.sum() == H * Q - 1
    scores[0, 0] = torch.nan
    assert word_share(scores, SINK)[0, 0].isnan(), "what is not a number is not hidden"


def test_first_token_share_skips_first():
    """The first row can look at the first token alone, so it does not count."""
    weights = torch.tensor([[[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.1, 0.4, 0.5]], [[1.0, 0.0, 0.0]] * 3])
    assert_close(first_token_share(weights), torch.tensor([0.4, 1.0]))
    with pytest.raises(ValueError, match=r"^n_queries=1 must be at least 2"):
        first_token_share(weights[:, :1])
