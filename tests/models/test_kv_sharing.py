"""Fewer keys and values in a real model: what pooling changes and what it keeps."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import TEXT, open_folder, save
from viz.core.analysis.checks import sdpa_deviation
from viz.core.attention import attend
from viz.core.heads import HeadWeights, multi_head
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import divisors
from viz.models.capture import capture, seeded
from viz.models.kv_sharing import with_fewer, wrongly_shared
from viz.models.tokens import split_words

H, D_MODEL = 12, 13


@pytest.fixture(scope="module")
def seeded_capture():
    tokens = split_words("a b c d e f g", 50)
    x = torch.randn(7, D_MODEL, generator=torch.Generator().manual_seed(1))
    spec = AttentionSpec(d_model=D_MODEL, n_heads=H, d_head=5, d_value=3)
    return seeded(tokens, x, HeadWeights.random(spec, seed=0))


@pytest.mark.parametrize("G", divisors(H))
def test_pooling_heads_is_pooling_weights(seeded_capture, G):
    full_trace = seeded_capture.multi_head(0)
    ours = with_fewer(seeded_capture, G).multi_head(0, allowed=causal(7, 7))
    reference = multi_head(
        full_trace.x, full_trace.memory, HeadWeights.from_mha(full_trace.projections, G), allowed=causal(7, 7)
    )
    assert ours.k.shape == (G, 7, 5)
    for name in ("k", "v", "weights", "output"):
        assert_close(getattr(ours, name), getattr(reference, name))
    assert sdpa_deviation(ours, allowed=causal(7, 7))[0] < 1e-5


def test_indivisible_count_is_refused(seeded_capture):
    with pytest.raises(ValueError, match="n_heads=12 is not a multiple of n_kv_heads=5"):
        with_fewer(seeded_capture, 5)


def test_the_classic_mistake(seeded_capture):
    right = with_fewer(seeded_capture, 4)
    wrong, right_trace = wrongly_shared(right, 0), right.multi_head(0)
    assert wrong.k.shape == (4, 7, 5)
    assert_close(wrong.weights[5], attend(right_trace.q[5], right_trace.k[5 % 4], right_trace.v[5 % 4]).weights)
    assert float((wrong.output - right_trace.output).abs().max()) > 0.1


def test_rope_model_pools_rotated_keys(tmp_path):
    """Llama's keys arrive rotated; the mean of two rotated heads is the rotated mean head."""
    text_capture = capture(open_folder(save("llama", tmp_path / "llama")), TEXT)
    assert len(text_capture.calls[0].k) == 2
    single_head = with_fewer(text_capture, 1).multi_head(1)
    assert single_head.k.shape[0] == 1
    assert single_head.weights.triu(1).abs().max() == 0
    assert_close(single_head.k[0], (text_capture.calls[1].k[0] + text_capture.calls[1].k[1]) / 2)
