"""Head statistics: special tokens, a lone token, uniform weights and two texts, by hand."""

import math

import pytest
import torch

from viz.core.analysis.head_statistics import baseline, cross_head_statistics, head_statistics

PLAIN = torch.zeros(3, dtype=torch.bool)


def test_special_tokens_are_left_out():
    weights = torch.tensor([[[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.7, 0.1, 0.2]]])
    special = torch.tensor([True, False, True])
    statistics = head_statistics(weights, torch.tensor([1, 2, 3]), special)
    assert statistics.distance_plain.item() == 0  # one word is left, and it looks at itself
    assert statistics.separators.item() == pytest.approx(0.3)  # of the first token and the word, on the last token


def test_a_lone_token_has_no_neighbours():
    statistics = head_statistics(torch.ones(2, 1, 1), torch.tensor([5]), PLAIN[:1])
    assert all(
        torch.isnan(value).all() for value in (statistics.previous, statistics.next, statistics.same, statistics.first)
    )
    assert statistics.entropy.tolist() == [0, 0]


def test_baseline_equals_statistics_of_uniform_weights():
    n = 7
    causal = torch.ones(n, n).tril().bool()
    statistics = baseline(causal, torch.arange(n), torch.zeros(n, dtype=torch.bool))
    rows = [[1 / (i + 1) if j <= i else 0.0 for j in range(n)] for i in range(n)]
    assert statistics.previous.item() == pytest.approx(sum(rows[i][i - 1] for i in range(1, n)) / (n - 1))
    assert statistics.entropy.item() == pytest.approx(sum(math.log(i + 1) for i in range(n)) / n)


def test_between_two_texts_by_hand():
    weights = torch.tensor([[[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]])
    statistics = cross_head_statistics(
        weights, torch.tensor([7, 8]), torch.tensor([5, 8, 7]), torch.tensor([True, False, False])
    )  # fmt: skip
    assert statistics.same.item() == pytest.approx((0.3 + 0.1) / 2)
    assert statistics.first.item() == pytest.approx((0.2 + 0.1) / 2)
    assert math.isnan(statistics.separators.item())
    ends = cross_head_statistics(
        weights, torch.tensor([1, 2]), torch.tensor([5, 8, 7]), torch.tensor([True, False, True])
    )
    assert ends.separators.item() == pytest.approx((0.3 + 0.8) / 2)
    assert math.isnan(ends.same.item())
    assert ends.entropy.item() == pytest.approx(float(torch.special.entr(weights).sum(-1).mean()))
