"""Several residual streams: by loops, one stream as the plain residual, and the sums of the matrix that mixes them."""

import math

import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.variants.residual.streams import StreamWeights, sinkhorn, stream_weights

T, N, D = 3, 4, 5


def test_streams_by_loops():
    """A new stream takes of each old one what M has in its own column, and its share of what the layer adds."""
    streams, added = draw(T, N, D), draw(T, D, seed=3)
    w, bias = draw(N * (N + 2), N * D, seed=1), draw(N * (N + 2), seed=2)
    weights = stream_weights(streams, w, scales=draw(3, seed=4), bias=bias)
    after = weights.next(streams, added)
    for word in range(T):
        for k in range(N):
            old = sum(weights.mix[word, j, k] * streams[word, j] for j in range(N))
            assert_close(after[word, k], old + weights.write[word, k] * added[word], atol=1e-12, rtol=0)


def test_weights_by_hand():
    """Equal streams of root mean square 1: half is read of each, once is written, and M takes their mean.

    A bias of log 3 makes 3/4 of a half, and twice that is written.
    """
    for start, half in ((0.0, 0.5), (math.log(3), 0.75)):
        bias = torch.full((8,), start)
        weights = stream_weights(torch.ones(2, 3), torch.zeros(8, 6), scales=torch.ones(3), bias=bias)
        assert_close(weights.read, torch.full((2,), half), atol=2e-6, rtol=0)
        assert_close(weights.write, torch.full((2,), 2 * half))
        assert_close(weights.mix, torch.full((2, 2), 0.5), atol=2e-6, rtol=0)


def test_single_stream_is_the_residual():
    """With n, M and b of 1 it is X + f; DeepSeek V4's b is 2σ, which is 1 for nothing but 0."""
    x, added, unit = draw(T, 1, D), draw(T, D, seed=1), torch.ones(T, 1, dtype=torch.float64)
    plain = StreamWeights(read=unit, write=unit, mix=unit[..., None]).next(x, added)
    assert_close(plain[:, 0], x[:, 0] + added, atol=1e-12, rtol=0)
    assert_close(sinkhorn(draw(T, 1, 1)), torch.ones(T, 1, 1, dtype=torch.float64), atol=2e-6, rtol=0)


def test_sums_of_mix():
    """After 20 rounds the sums over the first axis are 1, those over the second only nearly (deepseek_v4, 5.24.0)."""
    mix = sinkhorn(4.6 * draw(1000, N, N))
    first, second = ((mix.sum(axis) - 1).abs() for axis in (-2, -1))
    assert first.max() < 2e-6 and mix.min() > 0
    assert 0.03 < second.max() < 0.3 and 0.0005 < second.mean() < 0.02
