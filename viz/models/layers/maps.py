"""Layers that hand out their weights alone, as the calls of a capture."""

from typing import Any

import torch
from torch import Tensor

from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec


def maps_fields(weights: Tensor, width: int) -> dict[str, Any]:
    """Return the fields of a call whose weights (H, T, T) are known: the softmax of their logarithms is what they are.

    Args:
        weights: of the layer.
        width: of the model's vectors, which are not known here and stand as zeros.
    """
    n_heads, n, _ = weights.shape
    spec = AttentionSpec(d_model=width, n_heads=n_heads, d_head=max(1, width // n_heads))
    zeros, vectors = torch.zeros(spec.d_model, spec.H * spec.d_k), torch.zeros(n, width)
    return {
        "q": weights.float().clamp(min=torch.finfo(torch.float32).tiny).log(),
        "k": torch.eye(n).expand(n_heads, n, n),
        "v": torch.zeros(n_heads, n, spec.d_v),
        "options": {"allowed": (weights > 0).any(0), "scale": 1.0},
        "x": vectors,
        "memory": vectors,
        "projections": HeadWeights(spec=spec, w_q=zeros, w_k=zeros, w_v=zeros, w_o=zeros.T),
        "maps_only": True,
    }
