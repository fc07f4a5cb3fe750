"""Verdicts: each condition by hand, at its edge, and with what is no number."""

import math

import pytest
import torch

from viz.core.analysis.puzzles import check_cancellation, check_copies_previous, check_weight

WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.125, 0.625, 0.25]])


def test_a_weight_at_the_edge_is_enough_and_one_below_is_not():
    assert check_weight(WEIGHTS, 2, 1, least=0.625).is_solved
    found = check_weight(WEIGHTS, 2, 1, least=0.626)
    assert (found.missing, found.found, found.wanted, found.place) == ("weight", 0.625, 0.626, 2)
    assert not check_weight(WEIGHTS * math.nan, 0, 0, least=0.5).is_solved


def test_the_word_that_looks_back_least_is_named_first_and_then_what_is_copied_worst():
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
    found = check_copies_previous(WEIGHTS, x, x, least=0.7, off=0.5)
    assert (found.missing, found.found, found.place) == ("weight", 0.625, 2)
    written = torch.tensor([[99.0, 99.0], [1.25, 2.0], [3.0, 5.5]])
    found = check_copies_previous(WEIGHTS, written, x, least=0.6, off=0.25)
    assert (found.missing, found.found, found.place) == ("copy", 0.5, 2)
    assert check_copies_previous(WEIGHTS, written, x, least=0.6, off=0.5).is_solved, "the first word has none before it"
    assert not check_copies_previous(WEIGHTS, written * math.nan, x, least=0.6, off=0.5).is_solved


def test_heads_that_cancel_add_something_each():
    added = torch.tensor([[[2.0, -1.0], [0.5, 0.0]], [[-2.0, 1.25], [-0.5, 0.0]]])
    found = check_cancellation(added, least=0.5, most=0.2)
    assert (found.missing, found.found) == ("sum", 0.25)
    assert check_cancellation(added, least=0.5, most=0.25).is_solved
    silent = torch.stack([added[0], torch.zeros(2, 2)])
    assert (
        check_cancellation(silent, least=0.5, most=9.0).missing,
        check_cancellation(silent, least=0.5, most=9.0).place,
    ) == ("head", 1)
    assert not check_cancellation(added * math.nan, least=0.5, most=0.2).is_solved


@pytest.mark.parametrize("scale", [1.0, -3.0])
def test_what_one_head_adds_and_the_other_takes_away_is_nothing(scale):
    added = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)) * scale
    assert check_cancellation(torch.stack([added, -added]), least=0.5, most=1e-6).is_solved
