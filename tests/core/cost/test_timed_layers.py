"""The layers that the Cost page counts: their counts are torch's own, both self-attentions are one function."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from viz.core.cost.architectures import Sizes
from viz.core.cost.timed_layers import CANDIDATES, Plan


@pytest.mark.parametrize("name", CANDIDATES)
def test_counts_equal_torch_for_timed_layers(name):
    run = CANDIDATES[name].make(Plan(d=14, h=2, k=5, device="meta"), 11)
    with FlopCounterMode(display=False) as counter:
        run()
    assert counter.get_total_flops() == CANDIDATES[name].flops(Sizes(n=11, d=14, k=5, h=2))


def test_counting_makes_no_weights():
    """On the meta device a layer of any size can be counted: at this width W_Q alone would be 4 TB."""
    with FlopCounterMode(display=False) as counter:
        CANDIDATES["gru"].make(Plan(d=10**6, h=1, k=3, device="meta"), 2)()
    assert counter.get_total_flops() == 2 * 6 * 2 * 10**12


def test_both_self_attentions_are_one_function():
    naive, sdpa = (CANDIDATES[name].make(Plan(d=14, h=2, k=5), 11)() for name in ("naive", "sdpa"))
    torch.testing.assert_close(naive, sdpa, atol=1e-5, rtol=1e-5)
    assert naive.shape == (11, 14)
