"""Heads of two kinds with widths that all differ, as loops in columns."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.core.tensors import draw_single
from viz.core.masks import causal
from viz.core.variants.general_heads import GeneralHead, Widths, general_heads

Q, K = 3, 5
WIDTHS = Widths(d_q=7, d_k=11, d_v=13, p_q=2, p_k=17, p_v=19, p_o=23, d_hidden=29)
EQUAL = Widths(**vars(WIDTHS) | {"p_k": 2})


def layer():
    """One head of each kind: the dot product with keys brought to the queries' width."""
    heads = tuple(
        GeneralHead.random(WIDTHS if kind else EQUAL, is_additive=kind, seed=int(kind)) for kind in (False, True)
    )
    return heads, draw_single(2 * WIDTHS.p_v, WIDTHS.p_o, seed=5)


def tokens():
    return draw_single(Q, WIDTHS.d_q, seed=2), draw_single(K, WIDTHS.d_k, seed=3), draw_single(K, WIDTHS.d_v, seed=4)


@pytest.mark.parametrize("masked", [False, True])
def test_heads_equal_loop_over_pairs(masked):
    heads, w_o = layer()
    queries, keys, values = tokens()
    allowed = causal(Q, K) if masked else None
    trace = general_heads(queries, keys, values, heads, w_o, allowed=allowed)
    for i in range(Q):
        parts = []
        for head in heads:
            w_q, w_k, w_v = (nn.Linear(*w.shape, bias=False) for w in (head.w_q, head.w_k, head.w_v))
            for linear, weights in ((w_q, head.w_q), (w_k, head.w_k), (w_v, head.w_v)):
                linear.weight = nn.Parameter(weights.T, requires_grad=False)
            shares = []
            for j in range(K):
                q, k = w_q(queries[i]), w_k(keys[j])
                if head.additive is None:
                    score = sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q))
                else:
                    w = head.additive
                    score = w.w_v.dot(torch.tanh(w.w_q.T @ q + w.w_k.T @ k))
                is_closed = masked and j > i + K - Q
                shares.append(0.0 if is_closed else math.exp(float(score)))
            parts.append(sum(share / sum(shares) * w_v(values[j]) for j, share in enumerate(shares)))
        assert_close(trace.output[i], w_o.T @ torch.cat(parts), rtol=1e-4, atol=1e-4)


def test_mask_closes_cells_empty_row_zero():
    heads, w_o = layer()
    allowed = torch.ones(Q, K, dtype=torch.bool)
    allowed[:, -2:], allowed[1] = False, False
    trace = general_heads(*tokens(), heads, w_o, allowed=allowed)
    assert trace.weights[:, :, -2:].abs().max() == 0
    assert_close(trace.weights.sum(-1), torch.tensor([[1.0, 0.0, 1.0]] * 2))
    assert_close(trace.output[1], torch.zeros(WIDTHS.p_o))


def test_dot_product_requires_equal_widths():
    head = GeneralHead.random(WIDTHS, is_additive=False, seed=0)
    with pytest.raises(ValueError, match="equal widths, and here d_q=2, d_k=17"):
        general_heads(*tokens(), (head,), draw_single(WIDTHS.p_v, WIDTHS.p_o, seed=0))


def test_parameters_of_head_are_counted():
    assert GeneralHead.random(EQUAL, is_additive=False, seed=0).n_parameters() == 7 * 2 + 11 * 2 + 13 * 19
    network = (2 + 17 + 1) * 29
    assert GeneralHead.random(WIDTHS, is_additive=True, seed=0).n_parameters() == 7 * 2 + 11 * 17 + 13 * 19 + network
