"""The logit lens by torch's own functions."""

import math

import torch
from torch.nn.functional import cross_entropy

from viz.core.analysis.lens import chances, logit_lens, rank, surprise

GENERATOR = torch.Generator().manual_seed(0)
LOGITS = torch.randn(5, 13, generator=GENERATOR) * 3
IDS = torch.tensor([4, 0, 12, 7, 7])


def test_rank_of_word():
    order = LOGITS.sort(-1, descending=True).indices
    for word in range(13):
        assert rank(LOGITS, word).tolist() == [row.tolist().index(word) + 1 for row in order]


def test_equal_probabilities_share_a_rank():
    assert rank(torch.tensor([1.0, 2.0, 1.0]), 2).item() == rank(torch.tensor([1.0, 2.0, 1.0]), 0).item() == 2


def test_chances_equal_softmax_in_float64():
    # 49,152 words: torch's own softmax in float32 was off by 2e-5 in sum on a processor without AVX-512.
    logits = torch.randn(3, 49_152, generator=GENERATOR) * 3
    probabilities, expected = chances(logits), logits.double().softmax(-1)
    torch.testing.assert_close(probabilities.double(), expected, rtol=3e-6, atol=0)
    torch.testing.assert_close(probabilities.double().sum(-1), torch.ones(3).double(), rtol=0, atol=3e-6)


def test_surprise_is_cross_entropy_in_bits():
    nats = cross_entropy(LOGITS[:-1], IDS[1:], reduction="none")
    torch.testing.assert_close(surprise(LOGITS, IDS), nats / math.log(2))


def test_one_token_text_has_no_surprise():
    assert surprise(LOGITS[:1], IDS[:1]).shape == (0,)


def test_norm_comes_before_head():
    w_u = torch.randn(7, 11, generator=GENERATOR)
    x = torch.randn(3, 7, generator=GENERATOR)
    logits = logit_lens(x, lambda s: torch.nn.functional.layer_norm(s, (7,)), lambda s: s @ w_u)
    torch.testing.assert_close(logits, torch.nn.functional.layer_norm(x, (7,)) @ w_u)
