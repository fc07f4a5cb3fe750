"""Similarity of tokens: by hand, by a loop, and under pure attention with growing depth."""

import math

import torch
from torch.testing import assert_close

from viz.core.analysis.token_similarity import mean_cosine, residual_share
from viz.core.block import BlockDesign, BlockWeights
from viz.core.norm import no_norm
from viz.core.spec import AttentionSpec
from viz.core.stack import stack


def vectors(T=7, d=11, seed=0):
    return torch.randn(T, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class TestCosine:
    def test_by_hand(self):
        """Pairs at 45, 90 and 135 degrees."""
        x = torch.tensor([[1.0, 0.0], [3.0, 3.0], [-2.0, 2.0]])
        assert_close(mean_cosine(x), torch.tensor((math.sqrt(0.5) + 0 - math.sqrt(0.5)) / 3), atol=1e-7, rtol=0)
        assert_close(mean_cosine(x[:2]), torch.tensor(math.sqrt(0.5)))

    def test_pair_by_pair(self):
        x = vectors()
        pairs = [torch.cosine_similarity(x[i], x[j], dim=0) for i in range(7) for j in range(7) if i != j]
        assert_close(mean_cosine(x), torch.stack(pairs).mean())
        assert_close(mean_cosine(torch.stack([x, x.flip(-1)])), mean_cosine(x).expand(2))

    def test_lone_token_and_zero_vectors(self):
        assert mean_cosine(torch.ones(1, 3)).isnan()
        assert mean_cosine(torch.tensor([[1.0, 0.0], [0.0, 0.0]])) == 0


class TestResidualShare:
    def test_by_hand(self):
        """The mean is (2, 0) and the differences (0, 3), (0, -3): sqrt(18) of sqrt(26)."""
        assert_close(residual_share(torch.tensor([[2.0, 3.0], [2.0, -3.0]])), torch.tensor(math.sqrt(18 / 26)))

    def test_mean_is_nearest_vector(self):
        x = vectors()
        least = residual_share(x)
        for seed in range(20):
            candidate = x.mean(0) + 0.1 * vectors(1, 11, seed)
            assert (x - candidate).norm() / x.norm() >= least

    def test_equal_tokens_have_none_when_scaled(self):
        x = vectors()
        assert_close(residual_share(3 * x), residual_share(x))
        assert residual_share(x[:1].expand(5, 11)) < 1e-15


def test_attention_alone_collapses_residual_prevents_it():
    """Dong et al. 2021: without residual and norm the tokens are one after a few layers."""
    weights = [BlockWeights.random(AttentionSpec(d_model=12, n_heads=3), 24, seed=seed) for seed in range(8)]
    x = vectors(7, 12).float()
    pure = [residual_share(trace.attention.output) for trace in stack(x, weights, design=BlockDesign(residual=False))]
    assert pure[-1] < 0.1 * pure[0]
    with_residual = stack(x, weights, design=BlockDesign(norm="pre"))
    assert residual_share(with_residual[-1].output) > 0.5
    bare = stack(x, weights, design=BlockDesign(residual=False, normalize=no_norm))
    assert residual_share(bare[-1].output) < 0.1
