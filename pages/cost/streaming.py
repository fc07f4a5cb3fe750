"""A softmax that never holds all weights: the idea of FlashAttention, written plainly."""

import torch
from torch import Tensor

from viz.core.cost.attention import STREAMING_BLOCK


def streaming_attention(q: Tensor, k: Tensor, v: Tensor, block: int = STREAMING_BLOCK) -> tuple[Tensor, int]:
    """Compute softmax(QKᵀ/√d_k)V one tile of scores at a time; q, k, v are (h, n, d_k).

    Each row remembers its largest score so far and the sum of its exponentials. When a larger score comes, what was
    summed up is scaled down, so the result is exact. Milakov and Gimelshein 2018; Dao et al. 2022.

    Returns:
        The output, and how many numbers were held in place of the h n² weights.
    """
    h, n, d_k = q.shape
    largest, total = torch.full((h, n, 1), -torch.inf), torch.zeros(h, n, 1)
    output, largest_tile = torch.zeros(h, n, v.shape[-1]), 0
    for start in range(0, n, block):
        rows = slice(start, start + block)
        for key_start in range(0, k.shape[1], block):
            keys = slice(key_start, key_start + block)
            tile = q[:, rows] @ k[:, keys].mT * d_k**-0.5
            higher = largest[:, rows].maximum(tile.amax(-1, keepdim=True))
            rescale = (largest[:, rows] - higher).exp()
            tile.sub_(higher).exp_()
            total[:, rows] = total[:, rows] * rescale + tile.sum(-1, keepdim=True)
            output[:, rows] = output[:, rows] * rescale + tile @ v[:, keys]
            largest[:, rows] = higher
            largest_tile = max(largest_tile, tile.numel())
    return output / total, largest.numel() + total.numel() + largest_tile
