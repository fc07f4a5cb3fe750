"""The weight of one key among many: by hand, and as the softmax of a row that is written out."""

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.attention import row_softmax
from viz.core.variants.today.dilution import weight_among


def test_weight_among_by_hand():
    """Scores ln 3 and 0: 3/4 of two keys, 3/5 of three; at temperature 2 they are ln 9 and 0."""
    row, lengths, plain = torch.tensor([0.0, 3.0, 1.0]).log()[1:], torch.tensor([2, 3]), torch.ones(2)
    assert_close(weight_among(row, 0, lengths, plain), torch.tensor([3 / 4, 3 / 5], dtype=torch.float64))
    assert_close(weight_among(row, 0, lengths, 2 * plain), torch.tensor([9 / 10, 9 / 11], dtype=torch.float64))


@pytest.mark.parametrize(("copies", "temperature"), [(1, 1.0), (13, 1.0), (13, 1.7)])
def test_weight_among_is_long_row(copies, temperature):
    """One key and so many copies of the six others, all in one softmax."""
    row, key = draw(7), 3
    remaining = torch.cat([row[:key], row[key + 1 :]]).repeat(copies)
    factor, n = torch.tensor([temperature]).double(), torch.tensor([1 + len(remaining)])
    expected = row_softmax(factor * torch.cat([row[key : key + 1], remaining])[None])[0, 0]
    assert_close(weight_among(row, key, n, factor)[0], expected, atol=1e-12, rtol=0)


def test_weight_among_at_large_scores():
    """Scores of thousands neither overflow nor vanish."""
    weights = weight_among(torch.tensor([5000.0, 4999.0, -5000.0]), 0, torch.tensor([3]), torch.ones(1))
    assert_close(weights, torch.tensor([1 / (1 + torch.tensor(-1.0).double().exp())]), atol=1e-9, rtol=0)


def test_weight_among_needs_others():
    """A row of one key has no others to repeat."""
    with pytest.raises(ValueError, match=r"^a row of 1 has no other keys$"):
        weight_among(torch.zeros(1), 0, torch.tensor([2]), torch.ones(1))
