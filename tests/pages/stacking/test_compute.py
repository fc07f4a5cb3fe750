"""Computations of the Stacking page that its page tests do not reach."""

from dataclasses import dataclass

import torch
from torch.testing import assert_close

from pages.stacking.compute import field, gradients, ordinary, sharing, similarity
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.specs import Mask, Source

WORDS = Source(kind="words", text="a b c d e f g", d_model=12, n_heads=3, n_kv_heads=3)
PLAN = BlockPlan(layers=(0, 1, 2))


@dataclass(frozen=True)
class Holder:
    parts: dict


def test_ordinary_copies_inference_tensors_only():
    with torch.inference_mode():
        result = torch.arange(3.0)
    own_value = torch.arange(2.0)
    results = ordinary(Holder({"a": (result, own_value), "b": len}))
    copy, same = results.parts["a"]
    assert not copy.is_inference()
    assert torch.equal(copy, result)
    assert same is own_value
    assert results.parts["b"] is len


def test_gradients_zero_outside_field():
    mask = Mask(kind="window", width=1)
    result = field(WORDS, PLAN, mask, 1)
    assert [row.nonzero().flatten().tolist() for row in result.open] == [[0, 1, 2, 3, 4], [0, 1, 2, 3], [0, 1, 2], [1]]
    assert torch.equal(gradients(WORDS, PLAN, mask, 1) > 0, result.open)
    assert result.leak <= result.rounding < 1e-3


def test_sharing_extremes():
    """Independent layers are the plan itself; all shared repeat its first layer."""
    own_value, element = (sharing(WORDS, PLAN, Mask(), n) for n in (3, 1))
    assert_close(own_value.similarity.cosine, similarity(WORDS, PLAN, Mask())[0].cosine)
    again = similarity(WORDS, BlockPlan(layers=(0, 0, 0)), Mask())[0]
    assert_close(element.similarity.length, again.length)
    assert (own_value.parameters, own_value.flops) == (3 * element.parameters, element.flops)
