"""One head: torch's own attention, and properties of any head."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.attention import attend, row_softmax, softmax_with_sink
from viz.core.masks import causal


def random_head(batch: tuple[int, ...] = (), n_queries: int = 5, n_keys: int = 7, d_k: int = 3, d_v: int = 11):
    return draw(*batch, n_queries, d_k, seed=1), draw(*batch, n_keys, d_k, seed=2), draw(*batch, n_keys, d_v, seed=3)


class TestAgainstTorch:
    def test_mask_with_fully_masked_row(self):
        q, k, v = random_head((2, 13))
        allowed = torch.rand(5, 7, generator=torch.Generator().manual_seed(4)) < 0.6
        allowed[3] = False
        trace = attend(q, k, v, allowed=allowed)
        reference = scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        assert_close(trace.output, reference, atol=1e-12, rtol=0)
        assert trace.weights[..., 3, :].eq(0).all() and trace.output[..., 3, :].eq(0).all()
        # Other implementations of such a row: -inf gives NaN, a large negative number gives uniform weights.
        assert torch.softmax(trace.masked, -1)[..., 3, :].isnan().all()
        finite_weights = trace.scaled.masked_fill(~allowed, -1e9).softmax(-1)
        assert_close(finite_weights[..., 3, :], torch.full((2, 13, 7), 1 / 7, dtype=torch.float64))

    @pytest.mark.parametrize("shape", [(5, 7), (2, 1, 5, 7)])
    def test_masks_of_any_batch(self, shape):
        q, k, v = random_head((2, 13))
        allowed = torch.rand(shape, generator=torch.Generator().manual_seed(5)) < 0.6
        reference = scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        assert_close(attend(q, k, v, allowed=allowed).output, reference, atol=1e-12, rtol=0)

    def test_a_bias(self):
        q, k, v = random_head((2, 13))
        for shape in ((5, 7), (13, 5, 7), (13, 1, 7)):
            bias = draw(*shape, seed=6)
            trace = attend(q, k, v, bias=bias)
            reference = scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(2, 13, 5, 7))
            assert_close(trace.output, reference, atol=1e-12, rtol=0)
            assert_close(trace.masked, trace.scaled + bias)

    def test_a_scale(self):
        q, k, v = random_head((2,))
        reference = scaled_dot_product_attention(q, k, v, scale=0.3)
        assert_close(attend(q, k, v, scale=0.3).output, reference, atol=1e-12, rtol=0)


class TestProperties:
    def test_score_mod_acts_between_scale_bias(self):
        """The score modification runs after the scale and before the bias."""
        q, k, v = random_head()
        bias = draw(5, 7, seed=9)
        trace = attend(q, k, v, score_mod=torch.tanh, bias=bias, allowed=causal(5, 7))
        assert_close(trace.masked, (torch.tanh(trace.scaled) + bias).masked_fill(~causal(5, 7), -torch.inf))
        assert_close(trace.weights, trace.masked.softmax(-1))

    def test_trace_keeps_inputs_unmodified(self):
        q, k, v = random_head()
        before = [tensor.clone() for tensor in (q, k, v)]
        trace = attend(q, k, v, allowed=causal(5, 7))
        assert trace.q is q and trace.k is k and trace.v is v
        assert_close([q, k, v], before, atol=0, rtol=0)
        assert trace.scale == 1 / math.sqrt(3)
        assert trace.scaled.isfinite().all()  # masking must not write into its input
        with pytest.raises(AttributeError):
            trace.weights = trace.scores

    def test_keys_of_another_width_are_refused(self):
        q, k, v = random_head()
        with pytest.raises(TypeError):
            attend(q, k[..., :2], v)


class TestRowSoftmax:
    def test_nan_is_not_hidden(self):
        """Only a fully masked row becomes 0; a NaN from elsewhere stays NaN."""
        scores = torch.tensor([[torch.nan, 0.0], [0.0, torch.nan], [-torch.inf, -torch.inf]])
        assert row_softmax(scores)[:2].isnan().all()
        assert row_softmax(scores)[2].eq(0).all()


@pytest.mark.parametrize("sink", [-torch.inf, -3.0, 0.0])
def test_sink_of_fully_masked_row_zero(sink):
    """A fully masked row gives no weight to words for any sink; at -inf it used to be NaN."""
    masked = torch.tensor([[[0.0, math.log(3)], [-torch.inf, -torch.inf]]])
    weights = softmax_with_sink(masked, torch.tensor([sink]))
    words = 4 / (4 + math.exp(sink))
    assert_close(weights, torch.tensor([[[0.25 * words, 0.75 * words], [0.0, 0.0]]]))
