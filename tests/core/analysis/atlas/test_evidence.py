"""Means, intervals, hurdles and labels: by hand, by NumPy and SciPy, and on heads with too little evidence."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch.testing import assert_close

from pages.atlas import checks
from viz.core.analysis.atlas.evidence import LEAST, against, clears, extremes, gather, hurdle, student_t
from viz.core.analysis.atlas.summary import EXTREMES, correlation, histogram, labels_of, summarize

S, L, H = 23, 3, 5
NAN = float("nan")


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 18, 29, 100, 1501])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_student_t_equals_scipy(freedom, confidence):
    """Of odd and even degrees of freedom, by the sum and by the integral that the atlas' checks take."""
    expected = stats.t.ppf((1 + confidence) / 2, freedom)
    assert student_t(freedom, confidence) == pytest.approx(expected, rel=1e-12)
    if confidence == 0.95 and freedom > 1:
        # A sum over 200,001 angles, of which the density of many degrees of freedom fills few.
        assert checks.student_t(freedom) == pytest.approx(expected, rel=1e-6)


def test_interval_equals_scipy():
    values = torch.rand(S, H, generator=torch.Generator().manual_seed(0))
    values[3] = NAN  # a text without a score
    valid_values = np.delete(values.double().numpy(), 3, 0)
    low, high = stats.t.interval(0.95, S - 2, valid_values.mean(0), stats.sem(valid_values))
    evidence = gather(values)
    assert evidence.n == S - 1
    assert_close(evidence.mean.numpy(), valid_values.mean(0).astype(np.float32))
    assert_close(
        torch.stack([evidence.mean - evidence.half, evidence.mean + evidence.half]),
        torch.tensor(np.array([low, high])).float(),
    )


def test_two_texts_have_infinite_interval():
    evidence = gather(torch.tensor([[0.9], [0.9]]))
    assert evidence.half.isinf().all() and not clears(evidence.mean, evidence.half, 0.1).any()
    assert gather(torch.full((4, 2), NAN)).n == 0


@pytest.mark.parametrize(
    ("even", "random", "bar"),
    [(0.1, [0.2, 0.05], 0.25), (0.1, [0.3, NAN], 0.3), (0.4, [0.3], 0.4), (NAN, [NAN], 0.25)],
)
def test_label_must_beat_random_models(even, random, bar):
    """A head gets a label only if its mean exceeds those of all models with random weights."""
    assert hurdle("previous", even, torch.tensor(random)) == pytest.approx(bar)


def test_extremes_leave_out_missing_scores():
    values = torch.tensor([[0.5, 0.1], [NAN, NAN], [0.2, 0.9], [0.4, 0.3]])
    low, high = extremes(values, 2)
    assert low.T.tolist() == [[2, 3], [0, 3]] and high.T.tolist() == [[0, 3], [2, 3]]
    assert extremes(values, 5)[0][:, 0].tolist() == [2, 3, 0, -1, -1]
    assert against(values, 0.4).tolist() == [2, 2]


def some_scores(generator):
    values = 0.2 * torch.rand(S, L, H, generator=generator)
    values[:, 2, 1] += 0.6
    values[5, 2, 1] = 0.01  # and one text that contradicts
    return values


def test_summary_has_best_head_and_counterexample():
    generator = torch.Generator().manual_seed(6)
    score = summarize(
        "next", some_scores(generator), torch.full((S,), 0.1), [0.2 * torch.rand(7, L, H, generator=generator)]
    )
    assert score.labelled.nonzero().tolist() == [[2, 1]]
    assert score.against[2, 1] == 1 and score.low[0, 2, 1] == 5
    assert_close(score.low_values[0, 2, 1], torch.tensor(0.01))
    assert score.low.shape == (EXTREMES, L, H) and score.hurdle == LEAST["next"] and score.even == pytest.approx(0.1)
    assert labels_of({"next": score}, 2, 1) == ["next"] and labels_of({"next": score}, 0, 0) == []


def test_clearest_label_first_non_labels_never():
    """The label with the largest margin comes first; a score that is not a label never appears."""
    few, none = torch.zeros(S, L, H), torch.zeros(S)
    scores = {
        "first": summarize("first", few + 0.6, none, [few]),
        "next": summarize("next", few + 0.9, none, [few]),
        "entropy": summarize("entropy", few + 3.0, none, [few]),
    }
    assert labels_of(scores, 1, 3) == ["next", "first"]
    assert not scores["entropy"].labelled.any()


def test_uncertain_mean_above_hurdle_no_label():
    """The lower end of the interval has to exceed the hurdle, not only the mean."""
    values = torch.zeros(4, 1, 1)
    values[0] = 1.2  # the mean is 0.3, with a wide interval
    score = summarize("previous", values, torch.zeros(4), [torch.zeros(3, 1, 1)])
    assert score.mean > score.hurdle and not score.labelled.any()


def test_summary_keeps_largest_of_every_model():
    """A label has to beat the heads of every random model, so the largest of each is stored."""
    low, high = torch.full((3, L, H), 0.1), torch.full((3, L, H), 0.2)
    high[:, 1, 2], none = 0.7, torch.full((3, L, H), torch.nan)
    score = summarize("next", torch.full((S, L, H), 0.5), torch.zeros(S), [low, high, none])
    assert_close(score.chance, torch.tensor([0.1, 0.7, torch.nan]), equal_nan=True)
    assert score.hurdle == pytest.approx(0.7) and not score.labelled.any()
    assert_close(score.random, low[0])


def test_correlation_equals_numpy_none_if_constant():
    x, y = torch.randn(2, 19, generator=torch.Generator().manual_seed(8))
    assert float(correlation(x, y)) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
    assert correlation(x, torch.ones(19)).isnan()


def test_histogram_equals_numpy_counts_all_heads():
    generator = torch.Generator().manual_seed(9)
    groups = [torch.randn(71, generator=generator), 3 + torch.randn(13, generator=generator)]
    edges, counts = histogram(groups, 7)
    assert edges.tolist() == [-4.0, -2.0, 0.0, 2.0, 4.0, 6.0], "round steps"
    for values, heights in zip(groups, counts, strict=True):
        expected, _ = np.histogram(values, 5, (float(edges[0]), float(edges[-1])))
        assert heights.tolist() == expected.tolist() and heights.sum() == len(values)
    assert histogram([torch.ones(3)], 2)[1][0].sum() == 3, "where all are alike there are steps all the same"


@pytest.mark.parametrize("n", [2, 3, 20])
def test_histogram_steps_are_round_cover_values(n):
    for low, high in ((0.0, 1.0), (0.0082, 0.817), (-0.013, 0.0004), (1.3, 3.1), (-7e-9, 2e-8), (0.3, 0.30001)):
        edges, _ = histogram([torch.tensor([low, high])], n)
        step = float(edges[-1] - edges[0]) / (len(edges) - 1)
        assert 1 <= len(edges) - 1 <= n
        assert edges[0] - 1e-6 * step <= low and high <= edges[-1] + 1e-3 * step
        assert min(abs(step / 10 ** np.floor(np.log10(step) + 1e-6) - size) for size in (1, 2, 5)) < 0.02
