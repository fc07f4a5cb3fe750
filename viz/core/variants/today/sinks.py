"""Sinks: a share of each row that goes to no word, learned by each head or fixed ("off by one")."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from viz.core.attention import row_softmax


def softmax_off_by_one(masked: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q K"]:
    r"""Turn each row of scores into shares, with one more in the denominator.

    .. math:: A_{ij} = e^{s_{ij}} / (1 + \sum_m e^{s_{im}})

    Miller 2023, "Attention is off by one": :func:`~viz.core.attention.softmax_with_sink` with a sink of 0 in every
    head. A row that is -inf everywhere is 0 without further care. Standard where all scores are large.

    Example:
        >>> softmax_off_by_one(torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]]))
        tensor([[0.3333, 0.3333],
                [0.0000, 0.0000]])
    """
    return row_softmax(pad(masked, (0, 1)))[..., :-1]


def word_share(masked: Float[Tensor, "*B H Q K"], sink: Float[Tensor, "H *rows"]) -> Float[Tensor, "*B H Q"]:
    r"""Return the part of each row that goes to words; the rest goes to the sink of its head, or to its own.

    .. math:: \sum_j A_{ij} = \operatorname{sigmoid}(\operatorname{LSE}_j s_{ij} - \sigma_h), \qquad
              \operatorname{LSE}_j s_{ij} = \log \sum_j e^{s_{ij}}

    A sink of -inf leaves words the whole row. A row that may look nowhere has no words: 0.

    Example:
        >>> word_share(torch.zeros(1, 1, 3), torch.zeros(1))
        tensor([[0.7500]])
    """
    total = masked.logsumexp(-1)
    # Where both are -inf their difference is NaN.
    return torch.sigmoid(total - sink.reshape(len(sink), -1)).masked_fill(total == -torch.inf, 0.0)


def gate_by_sink(
    standard: Float[Tensor, "*B H Q d_v"], masked: Float[Tensor, "*B H Q K"], sink: Float[Tensor, "H *rows"]
) -> Float[Tensor, "*B H Q d_v"]:
    r"""Return what heads with a sink give, from what they give without one: a gate for each head and row.

    .. math:: o_i = \operatorname{sigmoid}(\operatorname{LSE}_j s_{ij} - \sigma_h) \cdot o_i^{\text{standard}}

    Equal to :func:`~viz.core.attention.attend` with ``sink``, which adds a column to the softmax: so a fast kernel
    that returns its log-sum-exp needs no change (gpt-oss, OpenAI 2025). Standard at a sink of -inf.

    Example:
        >>> gate_by_sink(torch.ones(1, 1, 1), torch.zeros(1, 1, 3), torch.zeros(1))
        tensor([[[0.7500]]])
    """
    return word_share(masked, sink)[..., None] * standard


def first_token_share(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B"]:
    """Return each head's mean weight on the first token, over all rows but the first.

    Behind a causal mask the first row has nowhere else to look. Without sinks or gates a large share is the rule in
    trained decoders (Xiao et al. 2024; Gu et al. 2025): the first token stands in for nobody.

    Raises:
        ValueError: if there is one row only.

    Example:
        >>> first_token_share(torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.3, 0.5, 0.2]]))
        tensor(0.4000)
    """
    if weights.shape[-2] < 2:
        raise ValueError(f"n_queries={weights.shape[-2]} must be at least 2: the first row has no choice")
    return weights[..., 1:, 0].mean(-1)
