"""Results of puzzles: each condition by hand, at its threshold, and with NaN."""

import math

import torch

from viz.core.analysis.puzzles import check_cancellation, check_copies_previous, check_weight

WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.125, 0.625, 0.25]])


def test_weight_at_threshold_passes_below_fails():
    assert check_weight(WEIGHTS, 2, 1, least=0.625).is_solved
    result = check_weight(WEIGHTS, 2, 1, least=0.626)
    assert (result.missing, result.found, result.wanted, result.place) == ("weight", 0.625, 0.626, 2)
    assert not check_weight(WEIGHTS * math.nan, 0, 0, least=0.5).is_solved


def test_worst_word_is_reported_first():
    """The word that looks back least comes first, then the word that is copied worst."""
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
    result = check_copies_previous(WEIGHTS, x, x, least=0.7, off=0.5)
    assert (result.missing, result.found, result.place) == ("weight", 0.625, 2)
    outputs = torch.tensor([[99.0, 99.0], [1.25, 2.0], [3.0, 5.5]])
    result = check_copies_previous(WEIGHTS, outputs, x, least=0.6, off=0.25)
    assert (result.missing, result.found, result.place) == ("copy", 0.5, 2)
    assert check_copies_previous(WEIGHTS, outputs, x, least=0.6, off=0.5).is_solved, "the first word has none before it"
    assert not check_copies_previous(WEIGHTS, outputs * math.nan, x, least=0.6, off=0.5).is_solved


def test_cancelling_heads_need_own_contribution():
    added = torch.tensor([[[2.0, -1.0], [0.5, 0.0]], [[-2.0, 1.25], [-0.5, 0.0]]])
    result = check_cancellation(added, least=0.5, most=0.2)
    assert (result.missing, result.found) == ("sum", 0.25)
    assert check_cancellation(added, least=0.5, most=0.25).is_solved
    silent = torch.stack([added[0], torch.zeros(2, 2)])
    assert (
        check_cancellation(silent, least=0.5, most=9.0).missing,
        check_cancellation(silent, least=0.5, most=9.0).place,
    ) == ("head", 1)
    assert not check_cancellation(added * math.nan, least=0.5, most=0.2).is_solved
