"""What is left out where a model is built changes nothing that is built."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from viz.models.lean.building import Building


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(7),
        lambda: torch.arange(2, 11, 3, dtype=torch.float64),
        lambda: torch.arange(0, 14, 2) / 14,
        lambda: 1.0 / (10_000.0 ** (torch.arange(0, 14, 2, dtype=torch.float) / 14)),
        lambda: torch.ones(3, 1) / torch.arange(5),
        lambda: nn.Embedding(5, 3, padding_idx=1).weight,
        lambda: nn.Linear(3, 5).bias,
        lambda: nn.init.normal_(torch.empty(3, 5), std=2.0),
        lambda: torch.empty_like(torch.empty(3, 5, dtype=torch.int16)),
    ],
)
def test_what_is_built_of_nothing_is_what_torch_builds(make):
    with torch.device("meta"):
        expected = make()
        with Building():
            built = make()
    assert built.is_meta
    assert (built.shape, built.dtype, built.stride()) == (expected.shape, expected.dtype, expected.stride())
    assert (type(built), built.requires_grad) == (type(expected), expected.requires_grad)


def test_room_is_made_of_the_shape_and_type_asked_for():
    empty = torch.empty(5, device="meta").expand(3, 5)
    with Building():
        room = torch.empty_like(empty, device="cpu"), torch.empty_like(empty, device="cpu", dtype=torch.int8)
    assert [(one.shape, one.dtype, one.device.type) for one in room] == [
        ((3, 5), torch.float32, "cpu"),
        ((3, 5), torch.int8, "cpu"),
    ]


def test_where_there_is_something_to_fill_it_is_filled():
    with Building():
        torch.manual_seed(11)
        drawn = nn.init.normal_(torch.empty(3, 5), 7.0, 0.1)
        assert_close(torch.arange(5), torch.tensor([0, 1, 2, 3, 4]))
        assert torch.empty_like(drawn.T).stride() == drawn.T.stride()
    torch.manual_seed(11)
    assert_close(drawn, torch.empty(3, 5).normal_(7.0, 0.1), atol=0, rtol=0)
