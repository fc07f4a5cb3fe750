"""A formula says how the block is put together now."""

from dataclasses import replace
from typing import get_args

import pytest
import torch

from pages.block.formulas import formula, start
from viz.core.block import BlockDesign, BlockWeights, Place, decoder_block
from viz.core.masks import causal
from viz.core.norm import NormWeights, no_norm, rms_norm, standardize
from viz.core.spec import AttentionSpec

PLAIN = NormWeights.plain(6)
WEIGHTS = replace(
    BlockWeights.random(AttentionSpec(d_model=6, n_heads=3), 7, seed=0, d_memory=6),
    attention_out_norm=PLAIN,
    cross_out_norm=PLAIN,
    feed_forward_out_norm=PLAIN,
)


def formula_of(code, **design):
    trace = decoder_block(torch.eye(6), torch.eye(6), WEIGHTS, allowed=causal(6, 6), design=BlockDesign(**design))
    return formula(code, trace)


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ({}, r"y = \operatorname{N}(x + \operatorname{CA}(x))"),
        ({"residual": False}, r"y = \operatorname{N}(\operatorname{CA}(x))"),
        ({"normalize": no_norm}, r"y = x + \operatorname{CA}(x)"),
        ({"norm": "pre"}, r"y = x + \operatorname{CA}(\operatorname{N}(x))"),
        ({"norm": "pre", "residual": False, "normalize": no_norm}, r"y = \operatorname{CA}(x)"),
        ({"norm": "output"}, r"y = x + \operatorname{N}(\operatorname{CA}(x))"),
        ({"norm": "sandwich"}, r"y = x + \operatorname{N}'(\operatorname{CA}(\operatorname{N}(x)))"),
        ({"norm": "sandwich", "residual": False}, r"y = \operatorname{N}'(\operatorname{CA}(\operatorname{N}(x)))"),
        ({"norm": "sandwich", "normalize": no_norm}, r"y = x + \operatorname{CA}(x)"),
    ],
)
def test_sum_formula_places_residual_and_norm(design, expected):
    assert formula_of("cross_add", **design) == expected


def test_norms_and_masks():
    assert r"\mu_i" in formula_of("attention_norm")
    assert r"\mu_i" not in formula_of("attention_norm", normalize=rms_norm)
    assert r"\operatorname{N}(u) = u" in formula_of("attention_norm", normalize=no_norm)
    assert r"\text{mask}" in formula_of("attention") and r"\text{mask}" not in formula_of("cross")
    assert "M W_K" in formula_of("cross") and "M W_K" not in formula_of("attention")


@pytest.mark.parametrize("norm", get_args(Place))
def test_every_point_has_formula(norm):
    trace = decoder_block(torch.eye(6), torch.eye(6), WEIGHTS, design=BlockDesign(norm=norm))
    for code in [*trace.points, "embedding", "position", "sum", "memory", "hidden"]:
        assert formula(code, trace)


def test_start_formula_matches_numbers():
    e, p = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)), torch.eye(5, 8)
    inputs = {"embedding": e, "position": p}
    assert start(inputs, e + p) == "x_i = e_i + p_i"
    assert start({"embedding": e}, e) == "x_i = e_i"
    assert "sigma" in start(inputs, standardize(e + p, eps=1e-5))
    assert r"\dots" in start(inputs, 3 + standardize(e + p))
    assert "mathbb" in start({}, e)
