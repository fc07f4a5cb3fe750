"""Masking methods of other libraries, on fully masked rows and on other rows."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from tests.core.tensors import draw_single
from viz.core.attention import attend, row_softmax
from viz.core.mistakes.masks import (
    mask_after_softmax,
    renormalise,
    sdpa_weights,
    softmax_add_1e9,
    softmax_inf_fill,
    softmax_replace_1e9,
    through_mha,
)

H, Q, K, D = 2, 5, 7, 3
WAYS = (softmax_inf_fill, softmax_replace_1e9, softmax_add_1e9, sdpa_weights)


@pytest.fixture
def allowed():
    mask = torch.rand(Q, K, generator=torch.Generator().manual_seed(3)) < 0.5
    mask[2] = False
    assert mask.any(-1).tolist() == [True, True, False, True, True]
    return mask


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_masks_agree_where_key_remains(way, dtype, allowed):
    scores = draw_single(H, Q, K).to(dtype)
    expected = row_softmax(scores.masked_fill(~allowed, -torch.inf))
    sees = allowed.any(-1)
    assert_close(way(scores, allowed)[:, sees], expected[:, sees])


def test_methods_differ_in_fully_masked_rows(allowed):
    scores = draw_single(H, Q, K)
    assert softmax_inf_fill(scores, allowed)[:, 2].isnan().all()
    assert_close(softmax_replace_1e9(scores, allowed)[:, 2], torch.full((H, K), 1 / K))
    assert_close(softmax_add_1e9(scores, allowed)[:, 2], torch.full((H, K), 1 / K))
    unmasked = scores.double().softmax(-1)
    assert_close(softmax_add_1e9(scores.double(), allowed)[:, 2], unmasked[:, 2], atol=1e-6, rtol=0)
    for zero in (sdpa_weights, mask_after_softmax):
        assert not zero(scores, allowed)[:, 2].any()


class TestMaskedAfter:
    def test_renormalising_restores_right_weights(self, allowed):
        scores = draw_single(H, Q, K).double()
        assert_close(
            renormalise(mask_after_softmax(scores, allowed)), row_softmax(scores.masked_fill(~allowed, -torch.inf))
        )


class TestThroughMha:
    @pytest.mark.parametrize("scale", [None, 1.0, 0.3])
    def test_true_blocks(self, allowed, scale):
        q, k, v = draw_single(H, Q, D), draw_single(H, K, D, seed=1), draw_single(H, K, D, seed=2)
        sees = allowed.any(-1)
        output = through_mha(q, k, v, blocked=~allowed, scale=scale)
        assert_close(output[:, sees], attend(q, k, v, allowed=allowed, scale=scale).output[:, sees])
        assert output[:, ~sees].isnan().all()  # with need_weights, its default, it uses the plain softmax
        inverted = scaled_dot_product_attention(q, k, v, attn_mask=~allowed, scale=scale)
        assert_close(through_mha(q, k, v, blocked=allowed, scale=scale), inverted)
