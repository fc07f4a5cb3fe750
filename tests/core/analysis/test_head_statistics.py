"""Head statistics against hand values, brute force, and the facts measured on MiniLM."""

import math

import pytest
import torch

from tests.sentences import SET_A
from viz.core.analysis.head_statistics import HeadStatistics, baseline, cross_head_statistics, head_statistics
from viz.models import capture
from viz.models.load import load

PLAIN = torch.zeros(3, dtype=torch.bool)


def test_by_hand():
    weights = torch.tensor([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]])
    statistics = head_statistics(weights, torch.tensor([7, 8, 7]), PLAIN)
    assert statistics.entropy.item() == pytest.approx((0 + math.log(2) + 1.5 * math.log(2)) / 3)
    assert statistics.distance.item() == pytest.approx((0 + 0.5 + 0.75) / 3)
    assert statistics.previous.item() == pytest.approx((0.5 + 0.25) / 2)
    assert statistics.next.item() == 0
    assert statistics.same.item() == pytest.approx((0 + 0.25) / 2)
    assert statistics.first.item() == pytest.approx((0.5 + 0.25) / 2)
    assert math.isnan(statistics.separators.item())


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


def test_minilm_heads_have_known_statistics():
    """SYLLABUS F1, F2: a previous-token head, a next-token head, a sink; the ranges found over these sentences."""
    model = load("all-MiniLM-L6-v2")
    statistics: dict[tuple[int, int], list[HeadStatistics]] = {(0, 2): [], (1, 8): [], (4, 5): []}
    for text in SET_A:
        text_capture = capture(model, text)
        ids, special = torch.tensor(text_capture.tokens.ids), torch.tensor(text_capture.tokens.special)
        for (layer, _), portraits in statistics.items():
            portraits.append(head_statistics(text_capture.layer(layer).weights, ids, special))
    previous = [values.previous[2].item() for values in statistics[0, 2]]
    following = [values.next[8].item() for values in statistics[1, 8]]
    sink = [values.first[5].item() for values in statistics[4, 5]]
    assert min(previous) > 0.99
    assert sum(following) / len(following) == pytest.approx(0.59, abs=0.03)
    assert sum(sink) / len(sink) == pytest.approx(0.85, abs=0.03)


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
