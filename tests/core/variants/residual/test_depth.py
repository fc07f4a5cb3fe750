"""Attention over depth: by hand, Kimi K3's formula by loops, and what is read before anything is learned."""

import math

import torch
from torch.nn.functional import normalize
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.masks import causal
from viz.core.variants.residual.depth import attend_depth, shares_of_lengths

T, S, D = 3, 7, 5


def test_normed_sources_are_summed():
    """Transformers 5.24.0, inkling2: of (3, 4) and (0, 10), equally scored, (0.6, 0.8 + 1) / sqrt 2 is read."""
    sources = torch.tensor([[3.0, 4.0], [0.0, 10.0]])
    assert_close(attend_depth(sources, torch.zeros(1, 2)).output, torch.tensor([[0.6, 1.8]]) / math.sqrt(2))
    w = torch.tensor([[0.0, math.log(3) * 5]])
    # Scores of 4 and 5 times log 3, since norm(r) / sqrt 2 is a unit vector.
    assert_close(attend_depth(sources, w).weights, torch.tensor([[0.25, 0.75]]))


def test_kimi_by_loops():
    """Sources as they are, a scale of 1, an epsilon of 1e-5, and w the norm's gain times a row.

    As mlx-lm writes it (kimi_k3.py, commit 3b04b9f1).
    """
    sources, gain, row = draw(T, S, D), draw(D, seed=1), draw(D, seed=2)
    options = {"scale": 1.0, "is_normed": False, "eps": 1e-5}
    ours = attend_depth(sources, (gain * row)[None], **options).output[:, 0]
    for word in range(T):
        likes = [math.exp(float(gain * r / (r.square().mean() + 1e-5).sqrt() @ row)) for r in sources[word]]
        want = sum(like * r for like, r in zip(likes, sources[word], strict=True)) / sum(likes)
        assert_close(ours[word], torch.as_tensor(want), atol=1e-12, rtol=0)


def test_untrained():
    """With w = 0 the sum of sources as they are is the plain stream divided by their number; the normed one is not."""
    sources, earlier = draw(S, D) * torch.arange(1, S + 1)[:, None], causal(S, S)
    none = torch.zeros(S, D, dtype=torch.float64)
    plain, number = sources.cumsum(0), torch.arange(1, S + 1)[:, None]
    raw = attend_depth(sources, none, allowed=earlier, is_normed=False).output
    normed = attend_depth(sources, none, allowed=earlier, eps=0.0).output
    assert_close(raw * number, plain, atol=1e-12, rtol=0)
    assert_close(normed, (normalize(sources, dim=-1) * math.sqrt(D)).cumsum(0) / number, atol=1e-12, rtol=0)
    assert torch.cosine_similarity(normed, plain)[-1] < 0.99


def test_shares_point_along_the_sum():
    """Weights on normed sources, which sum to 1: the plain stream's are the sources' lengths."""
    sources, weights = draw(S, D), draw(T, S, seed=1).softmax(-1)
    shares = shares_of_lengths(weights, sources)
    assert_close(normalize(shares @ normalize(sources, dim=-1), dim=-1), normalize(weights @ sources, dim=-1))
    assert_close(shares.sum(-1), torch.ones(T, dtype=shares.dtype))
    assert not shares_of_lengths(weights, 0 * sources).isnan().any()
