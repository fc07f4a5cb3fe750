"""Multi-head attention as most PyTorch code writes it: batched, one matrix for all heads."""

import math

import torch
from torch import Tensor, nn

from viz.core.heads import HeadWeights


class MultiHeadAttention(nn.Module):
    """Project, split, attend, concatenate, mix; x is (B, T, d_model), a mask is (B, T): True where a word is real.

    Example:
        >>> layer = MultiHeadAttention(d_model=6, n_heads=3)
        >>> layer(torch.randn(2, 5, 6)).shape
        torch.Size([2, 5, 6])
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model={d_model} is not a multiple of n_heads={n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        """(B, T, d_model) to (B, H, T, d_k): cut every vector, then let heads and words change places."""
        B, T, d_model = x.shape
        return x.view(B, T, self.n_heads, d_model // self.n_heads).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attend from every word to all, (B, T, d_model)."""
        B, T, d_model = x.shape
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(d_model // self.n_heads)
        if mask is not None:
            scores = scores.masked_fill(
                ~mask[:, None, None, :], -math.inf
            )  # (B, 1, 1, T): the same for heads and queries
        heads = scores.softmax(-1) @ v
        return self.o_proj(heads.transpose(1, 2).reshape(B, T, d_model))


def torch_module(weights: HeadWeights) -> MultiHeadAttention:
    """Build the module with a layer's weights; the big matrices hold the heads side by side.

    Raises:
        ValueError: if heads share keys, or their width is not d_model / H.
    """
    s = weights.spec
    if s.G != s.H or s.H * s.d_k != s.d_model or s.d_v != s.d_k or s.d_out != s.d_model:
        raise ValueError("this class has as many key heads as query heads, and d_model / H numbers in each")
    module = MultiHeadAttention(s.d_model, s.H).to(weights.w_q.dtype)
    for name in "qkvo":
        layer = getattr(module, f"{name}_proj")
        bias = getattr(weights, f"b_{name}")
        with torch.no_grad():
            layer.weight.copy_(getattr(weights, f"w_{name}").T)
            layer.bias.copy_(torch.zeros(s.d_model) if bias is None else bias)
    return module.eval()
