"""Pictures side by side: under which scale."""

import torch

from pages.convolution.side_by_side import shared_scale


def test_shared_scale_spans_all():
    assert shared_scale(torch.tensor([1.0, 2.0]), torch.tensor([-1.0])) == (-1.0, 2.0)
    low, high = shared_scale(torch.zeros(2))
    assert low < high
