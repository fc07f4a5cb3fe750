"""Checks of traces: every check must fail for a trace that was modified."""

from dataclasses import replace

import pytest
import torch

from viz.core.analysis.checks import (
    added_to_scores,
    heads_off,
    rounding,
    rows_error,
    sdpa_deviation,
    sdpa_weights,
    sum_error,
)
from viz.core.heads import HeadWeights, multi_head
from viz.core.masks import causal
from viz.core.spec import AttentionSpec


@pytest.fixture
def options():
    allowed = causal(11, 11)
    allowed[4] = False  # a fully masked query
    bias = torch.randn(6, 11, 11, generator=torch.Generator().manual_seed(1))
    return {"allowed": allowed, "bias": bias, "score_mod": lambda s: 5 * torch.tanh(s / 5)}


@pytest.fixture
def trace(options):
    spec = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=2, d_head=5, d_value=3, d_output=7)
    x = torch.randn(11, 13, generator=torch.Generator().manual_seed(0))
    return multi_head(x, x, HeadWeights.random(spec, seed=2), **options)


def test_true_trace_passes(trace, options):
    assert rows_error(trace.weights, added_to_scores(trace.q, trace.k, **options)) < 1e-6
    assert rows_error(trace.weights, trace.masked) < 1e-6
    assert sdpa_deviation(trace, **options)[0] < 1e-5
    assert (sdpa_weights(trace.q, trace.k, **options) - trace.weights).abs().max() < 1e-6
    assert sum_error(trace) < 1e-5


def test_modified_trace_fails(trace, options):
    assert rows_error(trace.weights * 0.9, trace.masked) > 0.05
    assert rows_error(trace.weights) == 1  # without scores every row must sum to 1, and row 4 does not
    masked_weights = trace.weights.clone()
    masked_weights[2, 7] = 0  # a row with visible keys
    assert rows_error(masked_weights, trace.masked) > 0.99
    assert sdpa_deviation(replace(trace, head_outputs=trace.head_outputs + 0.1), **options)[0] > 0.05
    assert sdpa_deviation(replace(trace, k=trace.k.flip(0)), **options)[0] > 0.01  # the wrong group of keys
    assert sum_error(replace(trace, output=trace.output + 0.1)) > 0.05


@pytest.mark.parametrize("wrong", ["scale", "allowed", "bias", "score_mod"])
def test_wrong_options_noted_in_trace_fail(options, wrong):
    """A trace computed with another scale or mask, or without one, that records this option itself."""
    spec = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=2, d_head=5, d_value=3, d_output=7)
    x = torch.randn(11, 13, generator=torch.Generator().manual_seed(0))
    wrong_value = {"scale": 1.0, "allowed": ~options["allowed"], "bias": -options["bias"], "score_mod": None}[wrong]
    wrong_trace = multi_head(x, x, HeadWeights.random(spec, seed=2), **options | {wrong: wrong_value})
    assert sdpa_deviation(wrong_trace, **options)[0] > 0.05


def test_float32_tolerance_grows_with_scores():
    q, k = torch.full((6, 11, 5), 1e3), torch.ones(2, 11, 5)
    assert rounding(q, k) == pytest.approx(1e-5 + 4 * 2**-23 * 5e3 / 5**0.5)
    assert rounding(q, k, 2.0) == pytest.approx(1e-5 + 4 * 2**-23 * 1e4)


@pytest.mark.parametrize("size", [1, 60, 2_000])
def test_difference_above_float32_tolerance_fails(size):
    """Scores in the thousands and millions, as in a block without its norm: a mistake is still detected."""
    spec = AttentionSpec(d_model=13, n_heads=6, d_head=5)
    x = size * torch.randn(11, 13, generator=torch.Generator().manual_seed(0))
    trace = multi_head(x, x, HeadWeights.random(spec, seed=2))
    assert trace.scaled.abs().max() > size**2 / 4
    off, tolerance = sdpa_deviation(trace)
    assert off <= tolerance
    exact = trace.q.double(), trace.k.double(), trace.v.double()
    off, tolerance = heads_off(trace.head_outputs.double(), *exact)
    assert off <= tolerance, "which of two ways of float32 lost something is not known"
    for wrong in (
        {"v": trace.v.flip(1)},
        {"head_outputs": trace.head_outputs.flip(0)},
        {"head_outputs": trace.head_outputs * (1 + 1e-3)},
    ):
        off, tolerance = sdpa_deviation(replace(trace, **wrong))
        assert off > 3 * tolerance


def test_tied_row_tolerant_other_rows_strict():
    """Any weights pass in a row with two equally large scores; the other rows stay strict."""
    q = torch.tensor([[[1e4, 0.0], [0.0, 1e4]]])
    k = torch.tensor([[[1e4, 1e4], [1e4, 0.0], [0.0, 1e3]]])
    off, tolerance = heads_off(torch.tensor([[[2.0], [1.0]]]), q, k, torch.tensor([[[1.0], [2.0], [3.0]]]))
    assert off == 0.5 < tolerance
    off, tolerance = heads_off(torch.tensor([[[2.0], [1.01]]]), q, k, torch.tensor([[[1.0], [2.0], [3.0]]]))
    assert off == pytest.approx(0.01)
    assert off > 100 * tolerance


def test_nan_and_infinity_fail():
    q = k = v = torch.ones(1, 2, 2)
    for wrong in (torch.nan, torch.inf):
        off, tolerance = heads_off(torch.full((1, 2, 2), wrong), q, k, v)
        assert not off <= tolerance
