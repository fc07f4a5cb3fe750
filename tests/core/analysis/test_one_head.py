"""One head taken out of a layer, and one cell by hand, against the layer itself."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from viz.core.analysis.one_head import alone, by_hand
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head
from viz.core.spec import AttentionSpec

SPEC = AttentionSpec(d_model=19, n_heads=6, n_kv_heads=2, d_head=5, d_value=3, d_memory=13, d_output=11)
QUERIES, KEYS = 7, 17


def layer(*, biases: bool = True, **options: Any) -> MultiHeadTrace:
    generator = torch.Generator().manual_seed(0)
    weights = HeadWeights.random(SPEC, seed=1)
    if biases:
        sizes = {"b_q": 6 * 5, "b_k": 2 * 5, "b_v": 2 * 3, "b_o": 11}
        tensors = {name: torch.randn(size, generator=generator) for name, size in sizes.items()}
        weights = HeadWeights(**{**vars(weights), **tensors})
    x, memory = torch.randn(QUERIES, 19, generator=generator), torch.randn(KEYS, 13, generator=generator)
    return multi_head(x, memory, weights, **options)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("head", range(6))
def test_extracted_head_equals_head_in_layer(head, biases):
    trace = layer(biases=biases)
    lone = multi_head(trace.x, trace.memory, alone(trace.projections, head))
    torch.testing.assert_close(lone.q[0], trace.q[head])
    torch.testing.assert_close(lone.k[0], trace.k[head // 3])
    torch.testing.assert_close(lone.weights[0], trace.weights[head])
    torch.testing.assert_close(lone.output, trace.contributions[head])


def test_cell_by_hand_equals_paper():
    """SYLLABUS G-TOY: row 0 of the weights is .4011 .1978 .4011, of the output 1.6044 .7967."""
    q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    w = HeadWeights(
        spec=AttentionSpec(d_model=4, n_heads=1, d_head=2),
        w_q=torch.eye(4)[:, :2], w_k=torch.eye(4)[:, :2], w_v=torch.eye(4)[:, 2:], w_o=torch.eye(4)[:2],
    )  # fmt: skip
    x = torch.cat([q, torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])], dim=1)
    cell = by_hand(multi_head(x, x, w), 0, 0, 2)
    assert cell.terms.tolist() == [1, 0]
    assert (cell.score, cell.scaled) == (1, pytest.approx(1 / math.sqrt(2)))
    assert cell.exps.tolist() == pytest.approx([1, math.exp(-1 / math.sqrt(2)), 1])
    assert cell.weight == pytest.approx(0.4011, abs=5e-5)
    assert cell.output.tolist() == pytest.approx([1.6044, 0.7967], abs=5e-5)
    assert cell.parts.sum(0).tolist() == pytest.approx([1.6044, 0.7967], abs=5e-5)


@pytest.mark.parametrize(("head", "query", "key"), [(0, 0, 0), (2, 6, 16), (3, 4, 1), (5, 3, 11)])
def test_cell_equals_trace(head, query, key):
    allowed = torch.arange(KEYS) < 12
    bias = torch.randn(QUERIES, KEYS, generator=torch.Generator().manual_seed(2))
    trace = layer(allowed=allowed.expand(QUERIES, KEYS), bias=bias)
    cell = by_hand(trace, head, query, key)
    assert cell.score == float(trace.scores[head, query, key])
    assert cell.masked == float(trace.masked[head, query, key])
    assert cell.weight == float(trace.weights[head, query, key])
    torch.testing.assert_close(cell.values, trace.v[head // 3], rtol=0, atol=0)
    assert cell.score_error < 1e-5
    assert cell.weight_error < 1e-6
    assert cell.output_error < 1e-6


def test_errors_detect_wrong_number():
    trace = layer()
    good = by_hand(trace, 4, 2, 5)
    wrong = replace(
        trace, scores=trace.scores + 0.5, weights=trace.weights.roll(1, -1), head_outputs=trace.head_outputs + 1
    )
    bad = by_hand(wrong, 4, 2, 5)
    assert bad.score_error == pytest.approx(0.5, abs=1e-4)
    assert bad.weight_error > 0.01
    assert bad.output_error > 0.1
    assert max(good.score_error, good.weight_error, good.output_error) < 1e-5


def test_fully_masked_query_is_zero():
    allowed = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    allowed[3] = False
    cell = by_hand(layer(allowed=allowed), 1, 3, 2)
    assert cell.fully_masked and cell.masked == -math.inf
    assert cell.total == cell.weight == cell.weight_error == cell.output_error == 0
    assert not by_hand(layer(allowed=allowed), 1, 2, 2).fully_masked
