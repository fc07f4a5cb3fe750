"""Random scores: their variance is their width, and the softmax of undivided ones saturates (SYLLABUS E1)."""

import torch

from viz.core.analysis.saturation import random_scores, saturation


def test_by_hand():
    scores = torch.tensor([[[0.0, 0.0], [2.0, 2.0]], [[0.0, 200.0], [200.0, 0.0]]])
    measures = saturation(scores)
    assert measures.variance.tolist() == [1.0, 10_000.0]
    torch.testing.assert_close(measures.largest, torch.tensor([0.5, 1.0]))
    torch.testing.assert_close(measures.jacobian, torch.tensor([0.5, 0.0]))


def test_only_undivided_scores_saturate():
    widths = torch.tensor([4, 64, 512])
    scores = random_scores(widths.tolist(), n_rows=4_001, n_keys=10, seed=0)
    raw, divided = saturation(scores), saturation(scores / widths.sqrt()[:, None, None])
    # Found with 4000 rows: 0.359, 0.071, 0.0002 undivided, and 0.340, 0.347, 0.347 divided.
    torch.testing.assert_close(divided.jacobian, torch.tensor([0.340, 0.347, 0.347]), rtol=0.05, atol=0)
    torch.testing.assert_close(raw.jacobian[:2], torch.tensor([0.359, 0.071]), rtol=0.3, atol=0)
    assert raw.jacobian[2] < 0.01
    assert raw.largest[2] > 0.99
    assert divided.largest.max() < 0.4


def test_scores_depend_on_seed_only():
    first, again = (random_scores([5], n_rows=3, n_keys=2, seed=7) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, random_scores([5], n_rows=3, n_keys=2, seed=8))


def test_global_generator_is_unchanged():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    random_scores([5], n_rows=3, n_keys=2, seed=0)
    assert torch.equal(torch.rand(2), expected)
