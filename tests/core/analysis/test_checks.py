"""A check that cannot fail is none: each must see a trace that was tampered with."""

from dataclasses import replace

import pytest
import torch

from viz.core.analysis.checks import rows_error, sdpa_error, sum_error
from viz.core.heads import HeadWeights, multi_head
from viz.core.masks import causal
from viz.core.spec import AttentionSpec


@pytest.fixture
def trace():
    spec = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=2, d_head=5, d_value=3, d_output=7)
    x = torch.randn(11, 13, generator=torch.Generator().manual_seed(0))
    allowed = causal(11, 11)
    allowed[4] = False  # a query that may look nowhere
    bias = torch.randn(6, 11, 11, generator=torch.Generator().manual_seed(1))
    options = {"allowed": allowed, "bias": bias, "score_mod": lambda s: 5 * torch.tanh(s / 5)}
    return multi_head(x, x, HeadWeights.random(spec, seed=2), **options)


def test_a_true_trace_passes(trace):
    assert rows_error(trace.weights, trace.masked) < 1e-6
    assert sdpa_error(trace) < 1e-5
    assert sum_error(trace) < 1e-5


def test_a_false_trace_does_not(trace):
    assert rows_error(trace.weights * 0.9, trace.masked) > 0.05
    assert rows_error(trace.weights) == 1  # without scores every row must sum to 1, and row 4 does not
    gone = trace.weights.clone()
    gone[2, 7] = 0  # a row that may look somewhere
    assert rows_error(gone, trace.masked) > 0.99
    assert sdpa_error(replace(trace, head_outputs=trace.head_outputs + 0.1)) > 0.05
    assert sdpa_error(replace(trace, k=trace.k.flip(0))) > 0.01  # the wrong group of keys
    assert sum_error(replace(trace, output=trace.output + 0.1)) > 0.05
