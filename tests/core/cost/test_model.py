"""Whole models: attention's share, where it overtakes, windows; totals are held to real models in test_presets."""

import math

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from viz.core.cost.model import ModelSpec, model_flops, model_kv_bytes, model_parameters, overtakes, visible_keys
from viz.core.spec import AttentionSpec

SMALL = ModelSpec(attention=AttentionSpec(d_model=10, n_heads=5), n_layers=3, d_ff=31, vocabulary=17)


def test_flops_equal_torch_encoder_layer():
    d, d_ff, n = 10, 31, 7
    block = nn.TransformerEncoderLayer(d, 5, d_ff, batch_first=True, device="meta")
    with FlopCounterMode(display=False) as counter:
        block(torch.empty(1, n, d, device="meta"))
    encoder = ModelSpec(
        attention=SMALL.attention, n_layers=1, d_ff=d_ff, vocabulary=1, decoder=False, norms=2, norm_bias=True,
        bias=frozenset({"qkv", "o", "ff"}),
    )  # fmt: skip
    assert counter.get_total_flops() == model_flops(encoder, n_tokens=n).total
    learned = model_parameters(encoder)
    assert learned.total - learned.embeddings == sum(weight.numel() for weight in block.parameters())


@pytest.mark.parametrize("gated", [False, True])
def test_where_attention_overtakes(gated):
    m = ModelSpec(
        attention=AttentionSpec(d_model=10, n_heads=5, n_kv_heads=1), n_layers=2, d_ff=37, vocabulary=3, gated=gated
    )  # fmt: skip
    projections, feed_forward = 2 * 100 + 2 * 10 * 2, (3 if gated else 2) * 370
    expected = math.ceil((feed_forward - projections) / (2 * 10))
    assert overtakes(m) == expected
    for n, before in ((expected - 1, True), (expected, False)):
        flops = model_flops(m, n_tokens=n)
        assert (flops.projections + flops.pairs < flops.feed_forward) == before


def test_narrow_feed_forward_is_overtaken_immediately():
    assert overtakes(ModelSpec(attention=AttentionSpec(d_model=10, n_heads=5), n_layers=1, d_ff=2, vocabulary=1)) == 1


def test_window_bounds_growth():
    windowed = ModelSpec(
        attention=SMALL.attention, n_layers=3, d_ff=31, vocabulary=17, window=7, windowed_layers=2
    )  # fmt: skip
    assert [visible_keys(windowed, n) for n in (5, 7, 11)] == [15, 21, 7 + 7 + 11]
    assert model_kv_bytes(windowed, n_tokens=11) == 25 * 2 * 10 * 2
    assert model_flops(windowed, n_tokens=7) == model_flops(SMALL, n_tokens=7)
    everywhere = ModelSpec(
        attention=SMALL.attention, n_layers=3, d_ff=3000, vocabulary=17, window=7, windowed_layers=3
    )  # fmt: skip
    assert overtakes(everywhere) is None


def test_shares_at_absurd_lengths():
    assert model_flops(SMALL, n_tokens=10**12).attention_share == pytest.approx(1.0)
    assert model_flops(SMALL, n_tokens=1).attention_share == pytest.approx(1260 / (1260 + 3 * 620 + 170), rel=1e-9)


def test_zero_tokens_raise_value_error():
    with pytest.raises(ValueError, match=r"^n_tokens=0 must be at least 1$"):
        model_flops(SMALL, n_tokens=0)
    with pytest.raises(ValueError, match=r"^d_ff=0 must be at least 1$"):
        ModelSpec(attention=SMALL.attention, n_layers=1, d_ff=0, vocabulary=1)
