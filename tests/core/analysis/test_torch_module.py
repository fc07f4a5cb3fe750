"""The standard PyTorch class: equal to torch's own layer under a mask of padding."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from viz.core.analysis.torch_module import MultiHeadAttention, torch_module
from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec


def layer(d_model=15, n_heads=3, **more):
    weights = HeadWeights.random(AttentionSpec(d_model=d_model, n_heads=n_heads, **more), seed=0)
    return weights, torch.randn(2, 7, d_model, generator=torch.Generator().manual_seed(1))


def test_module_equals_torch_under_padding_mask():
    weights, x = layer()
    torchs = nn.MultiheadAttention(15, 3, batch_first=True).eval()
    real = torch.ones(2, 7, dtype=torch.bool)
    real[1, 5:] = False
    with torch.inference_mode():
        torchs.in_proj_weight.copy_(torch.cat([weights.w_q.T, weights.w_k.T, weights.w_v.T]))
        torchs.out_proj.weight.copy_(weights.w_o.T)
        expected, _ = torchs(x, x, x, key_padding_mask=~real)
        assert_close(torch_module(weights)(x, real), expected, atol=1e-6, rtol=1e-5)


def test_unsupported_layer_is_refused():
    with pytest.raises(ValueError, match="d_model=5 is not a multiple of n_heads=2"):
        MultiHeadAttention(5, 2)
    for odd in ({"n_kv_heads": 1}, {"d_head": 2}):
        with pytest.raises(ValueError, match="as many key heads"):
            torch_module(layer(**odd)[0])
