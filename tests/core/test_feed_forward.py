"""The feed-forward network: gated by hand, torch's linear layers, and transformers' gated one."""

import pytest
import torch
from torch import nn
from torch.nn.functional import gelu, silu
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

from tests.core.tensors import draw
from viz.core.feed_forward import FeedForwardWeights, feed_forward

CLOSE = {"atol": 1e-12, "rtol": 1e-12}  # float64


def test_plain_equals_torchs_linear_layers():
    first, second = nn.Linear(5, 13).double(), nn.Linear(13, 5).double()
    weights = FeedForwardWeights(w_in=first.weight.T, b_in=first.bias, w_out=second.weight.T, b_out=second.bias)
    x = draw(7, 5)
    assert_close(feed_forward(x, weights, activation=gelu).output, second(gelu(first(x))), **CLOSE)


def test_gated_equals_llamas():
    config = LlamaConfig(hidden_size=6, intermediate_size=13, num_attention_heads=1, num_key_value_heads=1)
    mlp = LlamaMLP(config).double()
    weights = FeedForwardWeights(w_in=mlp.up_proj.weight.T, w_gate=mlp.gate_proj.weight.T, w_out=mlp.down_proj.weight.T)
    x = draw(7, 6)
    assert_close(feed_forward(x, weights, activation=silu).output, mlp(x), **CLOSE)


def test_gated_with_biases_by_hand():
    """(2, -1) through columns (1, 1), (1, -1) plus (0.5, 1): 1.5, 4; the gate, columns (1, 0), (0, 1), has no bias:
    2, -1, ReLU: 2, 0; their product 3, 0; and 3 through (1, 0) plus (7, -2): 10, -2."""
    weights = FeedForwardWeights(
        w_in=torch.tensor([[1.0, 1.0], [1.0, -1.0]]),
        b_in=torch.tensor([0.5, 1.0]),
        w_gate=torch.eye(2),
        w_out=torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
        b_out=torch.tensor([7.0, -2.0]),
    )
    steps = feed_forward(torch.tensor([[2.0, -1.0]]), weights)
    assert steps.gate is not None
    assert (steps.hidden.tolist(), steps.gate.tolist()) == ([[1.5, 4.0]], [[2.0, -1.0]])
    assert (steps.active.tolist(), steps.output.tolist()) == ([[3.0, 0.0]], [[10.0, -2.0]])


def test_unit_variance_input_unit_variance_hidden():
    weights = FeedForwardWeights.random(211, 419, seed=3)
    assert weights.d_ff == 419
    assert float(feed_forward(draw(101, 211).float(), weights).hidden.var()) == pytest.approx(1, abs=0.05)


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match=r"w_out has shape \(3, 2\), beside w_in it must be \(3, 5\)"):
        FeedForwardWeights(w_in=torch.zeros(5, 3), w_out=torch.zeros(3, 2))
