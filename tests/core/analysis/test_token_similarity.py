"""Similarity of tokens, by a loop."""

import torch
from torch.testing import assert_close

from viz.core.analysis.token_similarity import mean_cosine


def vectors(T=7, d=11, seed=0):
    return torch.randn(T, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class TestCosine:
    def test_pair_by_pair(self):
        x = vectors()
        pairs = [torch.cosine_similarity(x[i], x[j], dim=0) for i in range(7) for j in range(7) if i != j]
        assert_close(mean_cosine(x), torch.stack(pairs).mean())
        assert_close(mean_cosine(torch.stack([x, x.flip(-1)])), mean_cosine(x).expand(2))

    def test_lone_token_and_zero_vectors(self):
        assert mean_cosine(torch.ones(1, 3)).isnan()
        assert mean_cosine(torch.tensor([[1.0, 0.0], [0.0, 0.0]])) == 0
