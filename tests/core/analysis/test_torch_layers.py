"""torch's layers with a block's weights: they accept a right block and reject a wrong one."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import gelu

from tests.core.tensors import draw_single
from viz.core.analysis.torch_layers import torch_layer, torch_layer_error
from viz.core.block import BlockDesign, BlockWeights, decoder_block, encoder_block
from viz.core.masks import causal
from viz.core.norm import no_norm, rms_norm
from viz.core.spec import AttentionSpec

SPEC = AttentionSpec(d_model=18, n_heads=6, n_kv_heads=2)
DESIGNS = (
    BlockDesign(), BlockDesign(norm="pre", activation=gelu), BlockDesign(normalize=no_norm),
)  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS, ids=["post", "pre", "no_norm"])
def test_block_check_passes_right_fails_wrong(design):
    weights = BlockWeights.random(SPEC, 29, seed=0)
    trace = encoder_block(draw_single(7, 18), weights, allowed=causal(7, 7), design=design)
    assert torch_layer_error(trace).max() < 1e-6 * max(1.0, float(trace.output.abs().max()))
    w_in, linear = weights.feed_forward.w_in, torch_layer(weights, design).linear1
    assert linear.weight.data_ptr() == w_in.data_ptr(), "no weight is copied"
    wrong_weights = BlockWeights.random(SPEC, 29, seed=1)
    assert torch_layer_error(replace(trace, weights=wrong_weights)).max() > 0.1
    crossed = BlockWeights.random(SPEC, 29, seed=0, d_memory=18)
    trace = decoder_block(draw_single(7, 18), draw_single(11, 18, seed=1), crossed, allowed=causal(7, 7), design=design)
    assert torch_layer_error(trace).max() < 1e-6 * max(1.0, float(trace.output.abs().max()))
    assert torch_layer_error(replace(trace, design=replace(design, activation=torch.tanh))).max() > 0.01


@pytest.mark.parametrize(
    "design",
    [
        BlockDesign(residual=False),
        BlockDesign(normalize=rms_norm),
        BlockDesign(norm="output"),
        BlockDesign(norm="sandwich"),
    ],
)
def test_unsupported_block_is_refused(design):
    with pytest.raises(ValueError, match="torch has no such layer"):
        torch_layer(BlockWeights.random(SPEC, 29, seed=0), design)
