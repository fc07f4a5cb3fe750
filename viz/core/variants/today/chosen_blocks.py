"""Keys chosen by the block: its best key speaks for it, or the mean of all its keys does."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad

from viz.core.variants.today.selection import index_scores, top_k_mask


def block_mask(
    scores: Float[Tensor, "*B T T"], n_blocks: int, size: int, *, allowed: Bool[Tensor, "*M T T"] | None = None
) -> Bool[Tensor, "*B T T"]:
    r"""Keep for each query the blocks of ``size`` keys whose best open key has the largest scores; its own one always.

    .. math:: S_{im} = \max_{j \in m} s_{ij}

    MiniMax M3 2026: 16 blocks of 128, of queries and one key of a scorer's own, normed and turned; one choice for
    each group of heads. Blocks are counted from the first key, ``scores`` are before any mask. Standard where all
    blocks are kept.

    Example:
        >>> block_mask(torch.tensor([[0.0, 3.0, 9.0, 1.0]]).expand(4, -1), 1, 2)[0]
        tensor([ True,  True, False, False])
    """
    T = scores.shape[-1]
    is_open = torch.ones(T, T, dtype=torch.bool) if allowed is None else allowed
    open_scores = pad(scores.masked_fill(~is_open, -torch.inf), (0, -T % size), value=-torch.inf)
    best = open_scores.unflatten(-1, (-1, size)).amax(-1)
    own_block = torch.arange(T)[:, None] // size == torch.arange(best.shape[-1])
    top = top_k_mask(best.masked_fill(own_block, torch.inf), n_blocks, allowed=best > -torch.inf)
    return top.repeat_interleave(size, -1)[..., :T] & is_open


def pooled_mask(
    q: Float[Tensor, "*B I T d"],
    k: Float[Tensor, "*B T d"],
    n_blocks: int,
    size: int,
    *,
    allowed: Bool[Tensor, "T T"] | None = None,
    finish: Callable[[Tensor, Tensor], Tensor] = lambda keys, _: keys,
) -> Bool[Tensor, "*B T T"]:
    r"""Keep for each query the blocks whose mean key its scorer's heads like best, and the words of no full block.

    .. math:: S_{im} = \sum_h \operatorname{ReLU}\Big(q^I_{ih} \cdot \tfrac{1}{w} \sum_{j \in m} k^I_j\Big)

    Qwen4-exp 2026: blocks are counted among the words a query may see. Where these fill their blocks no word is left
    over, and the own one may be dropped. It norms the means and turns them by RoPE at their block's first place: that
    is for ``finish``, of the means (..., T, N, d) and these places (T, N). Standard where all blocks are kept.

    Example:
        >>> q, k = torch.ones(1, 3, 1), torch.tensor([[1.0], [2.0], [9.0]])
        >>> pooled_mask(q, k, 1, 1, allowed=torch.ones(3, 3).tril().bool()).int()
        tensor([[1, 0, 0],
                [0, 1, 0],
                [0, 0, 1]], dtype=torch.int32)
    """
    T = k.shape[-2]
    is_open = torch.ones(T, T, dtype=torch.bool) if allowed is None else allowed
    block = (is_open.cumsum(-1) - 1).div(size, rounding_mode="floor")
    n_full = is_open.sum(-1, keepdim=True) // size
    is_full = torch.arange(T // size) < n_full
    # (T, N, T): for each query the keys of each of its full blocks.
    members = is_open[:, None] & is_full[..., None] & (block[:, None] == torch.arange(T // size)[:, None])
    means = finish(members.to(k.dtype) @ k[..., None, :, :] / size, members.int().argmax(-1))
    # Each query has keys of its own: T texts of one query.
    of_query = q.transpose(-3, -2)[..., None, :]
    scores = index_scores(of_query, means, q.new_ones(*of_query.shape[:-3], 1, q.shape[-3]))[..., 0, :]
    top = top_k_mask(scores, n_blocks, allowed=is_full)
    return (top[..., None] & members).any(-2) | (is_open & (block >= n_full))
