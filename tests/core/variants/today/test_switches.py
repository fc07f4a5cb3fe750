"""Every variant is standard attention at its switch, on any layer's weights and behind any mask."""

import pytest
import torch

from viz.core.heads import HeadWeights
from viz.core.masks import causal, combine, padding
from viz.core.spec import AttentionSpec
from viz.core.variants.today.switches import SWITCHES, standard

T = 13
SPECS = {
    "MHA": AttentionSpec(d_model=29, n_heads=3, d_head=7, d_value=5),
    "GQA": AttentionSpec(d_model=29, n_heads=6, n_kv_heads=2, d_head=10),
    "MQA": AttentionSpec(d_model=29, n_heads=2, n_kv_heads=1, d_head=11, d_value=3),
}
MASKS = {"none": None, "causal": causal(T, T), "both": combine(causal(T, T), padding([11], T)[0, 0].flip(-1))}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", SWITCHES)
def test_switch_is_standard_attention(name, spec, mask):
    """In float64, far below 1e-6; fully masked rows included ("both")."""
    x = torch.randn(T, 29, generator=torch.Generator().manual_seed(0))
    weights = HeadWeights.random(SPECS[spec], seed=1)
    assert SWITCHES[name](standard(x, weights, allowed=MASKS[mask])) < 1e-9
