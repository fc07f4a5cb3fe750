"""A mask that depends on the words: a small scorer chooses for each query the keys it attends to."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def index_scores(
    q: Float[Tensor, "*B I Q d"], k: Float[Tensor, "*B K d"], weights: Float[Tensor, "*B Q I"]
) -> Float[Tensor, "*B Q K"]:
    r"""Score every pair by a few small heads with one key for all, DeepSeek's "lightning indexer".

    .. math:: I_{ij} = \sum_h w_{ih} \operatorname{ReLU}(q^I_{ih} \cdot k^I_j)

    DeepSeek-AI 2025, DeepSeek-V3.2-Exp, eq. 1. Cheaper than attention: few heads, no values, 8 bits. Factors that are
    the same for all pairs (code has two) leave the order as it is.

    Args:
        q: queries of the scorer's heads.
        k: its keys.
        weights: how much each of its heads counts, for each query.

    Example:
        >>> q, k = torch.tensor([[[1.0]], [[-1.0]]]), torch.tensor([[2.0], [-3.0]])
        >>> index_scores(q, k, torch.tensor([[1.0, 10.0]]))
        tensor([[ 2., 30.]])
    """
    pairs = torch.relu(q @ k[..., None, :, :].mT)
    return (weights.mT[..., None] * pairs).sum(-3)


def top_k_mask(
    scores: Float[Tensor, "*B Q K"], top_k: int, *, allowed: Bool[Tensor, "*M #Q #K"] | None = None
) -> Bool[Tensor, "*B Q K"]:
    """Make a mask of the ``top_k`` keys with the largest scores in each row; of equals the earlier ones.

    A row with fewer open keys keeps them all. DeepSeek-V3.2 keeps 2,048. Standard where as many are kept as there are
    keys.

    Args:
        scores: of the scorer, not of attention.
        top_k: keys that each query may look at.
        allowed: True where a query may look at all.

    Raises:
        ValueError: if ``top_k`` is below 1.

    Example:
        >>> top_k_mask(torch.tensor([[5.0, 7.0, 6.0]]), 2)
        tensor([[False,  True,  True]])
    """
    if top_k < 1:
        raise ValueError(f"top_k={top_k} must be at least 1")
    open_scores = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
    order = open_scores.argsort(dim=-1, descending=True, stable=True)[..., :top_k]
    top = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, order, True)
    return top if allowed is None else top & allowed


def lost_shares(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q K"]:
    r"""Return the weight that a row loses where only its k largest are kept, for k from 1 to the number of keys.

    .. math:: 1 - \sum_{j \in \text{top } k} A_{ij}

    The others are shared out anew, so a row changes by twice this in all. 0 for all keys.

    Example:
        >>> lost_shares(torch.tensor([[0.25, 0.5, 0.25]]))
        tensor([[0.5000, 0.2500, 0.0000]])
    """
    rest = weights.sort(dim=-1).values.cumsum(-1).flip(-1)
    return torch.cat([rest[..., 1:], torch.zeros_like(rest[..., :1])], -1)
