"""A gate on the output: by hand, and by a loop over heads."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.heads import HeadWeights, multi_head
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.core.variants.today.gates import attend_gated, output_gate

SPEC = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=3, d_head=5, d_value=11)
T = 7


def weights() -> HeadWeights:
    random_weights = HeadWeights.random(SPEC, seed=1)
    return HeadWeights(spec=SPEC, **{f"w_{name}": getattr(random_weights, f"w_{name}").double() for name in "qkvo"})


def test_gate_by_hand():
    """Heads lie side by side: the first columns are the first head's."""
    gate = output_gate(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0]]), 2)
    sigmoid = [1 / (1 + math.exp(-s)) for s in (0, 3, -2, 0)]
    assert_close(gate, torch.tensor(sigmoid).view(2, 1, 2))


@pytest.mark.parametrize("width", [SPEC.H * SPEC.d_v, SPEC.H])
def test_gated_heads_by_loop(width):
    """Each head's output, number by number or as a whole, then W_O."""
    check_gated_heads(width)


def check_gated_heads(width: int = SPEC.H * SPEC.d_v) -> None:
    x, w, w_gate = draw(T, SPEC.d_model), weights(), draw(SPEC.d_model, width, seed=2)
    trace = attend_gated(x, w, w_gate, allowed=causal(T, T))
    plain = multi_head(x, x, w, allowed=causal(T, T))
    each_head = width // SPEC.H
    want = torch.zeros(T, SPEC.d_out, dtype=torch.float64)
    for h in range(SPEC.H):
        gate = 1 / (1 + (-(x @ w_gate[:, h * each_head : (h + 1) * each_head])).exp())
        want += (plain.head_outputs[h] * gate) @ w.w_o[h * SPEC.d_v : (h + 1) * SPEC.d_v]
    assert_close(trace.output, want, atol=1e-12, rtol=0)
    assert_close(trace.weights, plain.weights)


def test_gate_of_wrong_width():
    """A width that is no multiple of the heads is refused."""
    with pytest.raises(ValueError, match="width=7 is not a multiple of n_heads=6"):
        output_gate(draw(T, SPEC.d_model), draw(SPEC.d_model, 7), SPEC.H)
