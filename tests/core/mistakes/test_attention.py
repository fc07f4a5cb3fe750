"""Attention with faults: each fault changes its own step alone."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from viz.core.attention import attend
from viz.core.mistakes.attention import (
    Faults,
    attend_wrongly,
    column_softmax,
    measure_rows,
)

HEADS, QUERIES, KEYS, D_K, D_V = 2, 5, 7, 11, 3
SCALE = 0.2


def cap(scaled):
    return 3 * torch.tanh(scaled / 3)


@pytest.fixture
def inputs():
    generator = torch.Generator().manual_seed(0)
    shapes = {"q": (HEADS, QUERIES, D_K), "k": (HEADS, KEYS, D_K), "v": (HEADS, KEYS, D_V)}
    tensors = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    return tensors | {
        "allowed": torch.rand(QUERIES, KEYS, generator=generator) > 0.3,
        "bias": torch.randn(QUERIES, KEYS, generator=generator),
        "score_mod": cap, "scale": SCALE,
    }  # fmt: skip


def attend_with_faults(inputs, **faults):
    return attend_wrongly(*(inputs[name] for name in "qkv"), Faults(**faults), **options(inputs))


def options(inputs):
    return {name: inputs[name] for name in ("scale", "allowed", "bias", "score_mod")}


def test_no_faults_equals_attend(inputs):
    right = attend(*(inputs[name] for name in "qkv"), **options(inputs))
    assert_close(vars(attend_with_faults(inputs)), vars(right))


def test_no_scale_is_scale_one(inputs):
    expected = attend(*(inputs[name] for name in "qkv"), **options(inputs) | {"scale": 1.0})
    torch.testing.assert_close(attend_with_faults(inputs, no_scale=True).weights, expected.weights)
    free = attend_wrongly(*(inputs[name] for name in "qkv"), Faults(no_scale=True), scale=SCALE)
    reference = scaled_dot_product_attention(*(inputs[name] for name in "qkv"), scale=1.0)
    torch.testing.assert_close(free.output, reference)


def test_no_mask_makes_all_weights_positive(inputs):
    assert (attend_with_faults(inputs).weights == 0).any()
    assert (attend_with_faults(inputs, no_mask=True).weights > 0).all()


@pytest.mark.parametrize("temperature", [0.1, 0.7, 4.0])
def test_temperature_divides_softmax_input(inputs, temperature):
    right, tempered = attend_with_faults(inputs), attend_with_faults(inputs, temperature=temperature)
    torch.testing.assert_close(tempered.weights, (right.masked / temperature).softmax(-1))
    torch.testing.assert_close(tempered.output, (right.masked / temperature).softmax(-1) @ inputs["v"])


def test_wrong_axis_makes_columns_sum_one(inputs):
    wrong_trace = attend_with_faults(inputs, wrong_axis=True)
    visible_columns = inputs["allowed"].any(0).float()
    torch.testing.assert_close(wrong_trace.weights.sum(-2), visible_columns.expand(HEADS, KEYS))
    assert (wrong_trace.weights.sum(-1) - 1).abs().max() > 0.1
    torch.testing.assert_close(wrong_trace.output, wrong_trace.weights @ inputs["v"])


def test_fully_masked_column_is_zero():
    masked = torch.tensor([[0.0, -math.inf], [0.0, -math.inf]])
    assert column_softmax(masked).tolist() == [[0.5, 0.0], [0.5, 0.0]]


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_is_above_zero(temperature):
    with pytest.raises(ValueError, match="must be above 0"):
        Faults(temperature=temperature)


def test_faults_without_any_are_none():
    assert Faults().none
    assert not Faults(temperature=0.9).none and not Faults(wrong_axis=True).none


def test_row_measures_by_hand():
    """A row that is not a distribution has no entropy."""
    measures = measure_rows(torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [1.0, 0.5, 0.1], [0.0, 0.0, 0.0]]))
    assert measures.total.tolist() == pytest.approx([1, 1, 1.6, 0])
    assert measures.largest.tolist() == [0.5, 1, 1, 0]
    assert measures.entropy[:2].tolist() == pytest.approx([math.log(2), 0])
    assert measures.jacobian[:2].tolist() == pytest.approx([0.5, 0])
    assert measures.entropy[2:].isnan().all() and measures.jacobian[2:].isnan().all()
