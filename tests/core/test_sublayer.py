"""The places of norms around a part: before it, behind it, behind the sum; and what is learned there."""

from dataclasses import replace
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from tests.core.tensors import draw_single
from viz.core.block import STEPS, BlockDesign, BlockWeights, Place, decoder_block, encoder_block
from viz.core.heads import multi_head
from viz.core.norm import NormWeights, layer_norm
from viz.core.spec import AttentionSpec

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
D, D_FF, D_MEMORY, T, K = 15, 23, 13, 7, 11
PARTS = ("attention", "cross", "feed_forward")


def with_two_norms(weights: BlockWeights) -> BlockWeights:
    """A block with a norm before and one behind each part, no two of which are alike."""
    parts = [part for part in PARTS if getattr(weights, part) is not None]
    names = [f"{part}{step}" for part in parts for step in ("_norm", "_out_norm")]
    norms: dict[str, Any] = {
        name: NormWeights(gain=draw_single(D, seed=2 * i), shift=draw_single(D, seed=2 * i + 1), eps=0.01)
        for i, name in enumerate(names)
    }
    return replace(weights, **norms)


def torchs_norm(x: Tensor, weights: NormWeights) -> Tensor:
    return functional.layer_norm(x, (D,), weights.gain, weights.shift, weights.eps)


BLOCK = BlockWeights.random(AttentionSpec(d_model=D, n_heads=5), D_FF, seed=0)
ENCODER = with_two_norms(BLOCK)
DECODER = with_two_norms(BlockWeights.random(AttentionSpec(d_model=D, n_heads=5), D_FF, seed=0, d_memory=D_MEMORY))


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("norm", ["output", "sandwich"])
def test_parts_are_normed_before_sum(norm, residual):
    """Each of a decoder's three parts: x + N(f(x)), and x + N'(f(N(x))) with another norm in front."""
    x, memory, w = draw_single(T, D, seed=97), draw_single(K, D_MEMORY, seed=98), DECODER
    trace = decoder_block(x, memory, w, design=BlockDesign(norm=norm, residual=residual))
    assert w.cross is not None
    parts = {
        "attention": lambda u: multi_head(u, u, w.attention).output,
        "cross": lambda u: multi_head(u, memory, w.cross).output,
        "feed_forward": lambda u: torch.relu(u @ w.feed_forward.w_in) @ w.feed_forward.w_out,
    }
    for name, part in parts.items():
        behind = getattr(w, f"{name}_norm" if norm == "output" else f"{name}_out_norm")
        read = torchs_norm(x, getattr(w, f"{name}_norm")) if norm == "sandwich" else x
        expected = torchs_norm(part(read), behind) + x * residual
        x = trace.points[f"{name}_add"]
        assert_close(x, expected, **CLOSE)
    assert trace.output is x


@pytest.mark.parametrize("norm", get_args(Place))
def test_points_follow_order_of_computation(norm):
    trace = encoder_block(draw_single(T, D), ENCODER, design=BlockDesign(norm=norm))
    parts = [part for part in PARTS if part != "cross"]
    assert list(trace.points) == ["x", *(f"{part}{step}" for part in parts for step in STEPS[norm])]
    for point, values in trace.points.items():
        if point.endswith("_norm"):
            assert_close(values, layer_norm(trace.before(point), trace.norm_weights(point)), **CLOSE)
    assert trace.output is list(trace.points.values())[-1]


def test_sandwich_without_second_norm_is_refused():
    with pytest.raises(ValueError, match="no second norm"):
        encoder_block(draw_single(T, D), BLOCK, design=BlockDesign(norm="sandwich"))


def test_second_norms_count_as_parameters():
    assert ENCODER.n_parameters() == BLOCK.n_parameters() + 2 * 2 * D
