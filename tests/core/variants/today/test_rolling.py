"""A cache behind a window: hand values, the mask of a window on the whole text, and the tokens that are left."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from viz.core.analysis.checks import sdpa_heads
from viz.core.variants.decoding import decode
from viz.core.variants.today.rolling import cached_tokens, decode_in_window


def heads():
    """Queries of 6 heads and keys and values of 3, for 11 tokens."""
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(n, 11, d, generator=generator) for n, d in ((6, 5), (3, 5), (3, 2)))


@pytest.mark.parametrize("size", [1, 7, 13])
def test_rolling_equals_sdpa_with_window(size):
    q, k, v = heads()
    offset = torch.arange(11)[:, None] - torch.arange(11)
    mask = (offset >= 0) & (offset < size)
    bias = torch.randn(6, 11, 11, generator=torch.Generator().manual_seed(1))
    expected = scaled_dot_product_attention(q, k, v, attn_mask=bias.masked_fill(~mask, -torch.inf), enable_gqa=True)
    trace = decode_in_window(q, k, v, size=size, bias=bias)
    assert_close(trace.output, expected)
    assert_close(trace.keys, k[:, max(0, 11 - size) :])
    assert_close(trace.values, v[:, max(0, 11 - size) :])


def test_rolling_sink_is_no_key():
    """Behind every window each head's sink takes the share of one more key with that score and no value."""
    q, k, v = heads()
    sink = torch.linspace(-2, 3, 6)
    for size in (1, 4, 11):
        allowed = torch.ones(11, 11, dtype=torch.bool).tril().triu(1 - size)
        expected = sdpa_heads(q, k, v, allowed=allowed, sink=sink)
        assert_close(decode_in_window(q, k, v, size=size, sink=sink).output, expected)
    assert_close(decode(q, k, v, sink=sink), expected)


def test_rolling_refuses_empty_cache():
    with pytest.raises(ValueError, match=r"^size=0 must be at least 1$"):
        decode_in_window(*heads(), size=0)


def test_cached_tokens_match_rolling_cache():
    """Each layer holds the columns that are left in its cache, none of them before it was read."""
    q, k, v = heads()
    for n_read in range(1, 12):
        left = decode_in_window(q[:, :n_read], k[:, :n_read], v[:, :n_read], size=4).keys
        cells = cached_tokens(n_read, 11, (True, False), size=4)
        assert cells.sum(-1).tolist() == [n_read, left.shape[1]]
        assert_close(k[:, cells[1]], left)
