"""Grouped-query attention as PyTorch code writes it: batched, few key and value heads copied for many query heads."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from viz.core.analysis.checks import added_to_scores
from viz.core.heads import HeadWeights, MultiHeadTrace, concat_heads
from viz.core.spec import AttentionSpec


class GroupedQueryAttention(nn.Module):
    """Project, split, copy keys and values for every query head, attend, lay side by side, mix.

    x is (B, T, d_model); G = H is multi-head, G = 1 multi-query attention.

    Example:
        >>> layer = GroupedQueryAttention(AttentionSpec(d_model=8, n_heads=4, n_kv_heads=2))
        >>> layer(torch.randn(3, 5, 8)).shape
        torch.Size([3, 5, 8])
    """

    def __init__(self, spec: AttentionSpec, *, scale: float | None = None) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = spec.H, spec.G
        self.scale = 1 / math.sqrt(spec.d_k) if scale is None else scale
        self.q_proj = nn.Linear(spec.d_model, spec.H * spec.d_k)
        self.k_proj = nn.Linear(spec.d_mem, spec.G * spec.d_k)
        self.v_proj = nn.Linear(spec.d_mem, spec.G * spec.d_v)
        self.o_proj = nn.Linear(spec.H * spec.d_v, spec.d_out)

    def split(self, x: Tensor, n_heads: int) -> Tensor:
        """(B, T, n_heads d) to (B, n_heads, T, d)."""
        B, T, width = x.shape
        return x.view(B, T, n_heads, width // n_heads).transpose(1, 2)

    def for_every_head(self, x: Tensor) -> Tensor:
        """Keys or values of G heads, (B, T, G d), as one for each of H query heads, (B, H, T, d)."""
        groups = self.split(x, self.n_kv_heads)
        return groups.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)

    def forward(self, x: Tensor, memory: Tensor | None = None, added: Tensor | None = None) -> Tensor:
        """Attend, (B, T, d_out); ``added`` (..., T, T) is added to the scores: a mask is 0 and -inf."""
        memory = x if memory is None else memory
        return self.attend(self.q_proj(x), self.k_proj(memory), self.v_proj(memory), added)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, added: Tensor | None = None) -> Tensor:
        """Attend to projected queries, keys and values, each (B, T, heads side by side)."""
        queries, keys, values = self.split(q, self.n_heads), self.for_every_head(k), self.for_every_head(v)
        scores = queries @ keys.transpose(-2, -1) * self.scale
        if added is not None:
            scores = scores + added
        # A row that may look nowhere is 0 / 0.
        weights = scores.softmax(-1).nan_to_num(0.0)
        heads = weights @ values
        B, _, T, _ = queries.shape
        return self.o_proj(heads.transpose(1, 2).reshape(B, T, -1))


Version = type[GroupedQueryAttention]


def load_grouped(
    weights: HeadWeights, version: Version = GroupedQueryAttention, *, scale: float | None = None
) -> GroupedQueryAttention:
    """The module with a layer's weights in it, which are not copied; a bias that the layer does not have is 0."""
    # Nothing is drawn at random only to be thrown away.
    with torch.device("meta"):
        module = version(weights.spec, scale=scale)
    for name in "qkvo":
        layer, w, bias = getattr(module, f"{name}_proj"), getattr(weights, f"w_{name}"), getattr(weights, f"b_{name}")
        layer.weight = nn.Parameter(w.T, requires_grad=False)
        layer.bias = nn.Parameter(w.new_zeros(w.shape[1]) if bias is None else bias, requires_grad=False)
    return module.eval()


def through_module(trace: MultiHeadTrace, version: Version = GroupedQueryAttention, **options: Any) -> Tensor:
    """Output of a module with a layer's weights for its q, k and v, which may have been rotated by position."""
    module = load_grouped(trace.projections, version, scale=options.get("scale"))
    q, k, v = (concat_heads(heads)[None] for heads in (trace.q, trace.k, trace.v))
    # A cap is of the pairs as they are read.
    added = added_to_scores(trace.q, module.for_every_head(k)[0], **options)
    return module.attend(q, k, v, added)[0]
