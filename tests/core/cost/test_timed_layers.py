"""The layers that the Cost page counts: their counts are torch's own, both self-attentions are one function."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from viz.core.cost.architectures import Sizes
from viz.core.cost.timed_layers import CANDIDATES

SIZES = Sizes(n=11, d=14, k=5, h=2)
# On the meta device a layer of any size can be counted: at this width W_Q alone would be 4 TB.
WIDE = Sizes(n=2, d=10**6)


@pytest.mark.parametrize("sizes", [SIZES, WIDE])
@pytest.mark.parametrize("name", CANDIDATES)
def test_counts_equal_torch_for_timed_layers(name, sizes):
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        CANDIDATES[name].make(sizes)()
    assert counter.get_total_flops() == CANDIDATES[name].flops(sizes)


def test_both_self_attentions_are_one_function():
    outputs = []
    for name in ("naive", "sdpa"):
        torch.manual_seed(0)
        outputs.append(CANDIDATES[name].make(SIZES)())
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)
    assert outputs[0].shape == (11, 14)
