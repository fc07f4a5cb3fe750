"""Latent attention (DeepSeek-AI 2024, eq. 9-19): the keys and values of all heads out of one short vector a token.

For a token x: c = N(x W_DKV), and for each head k = (c W_UK, r) and v = c W_UV, where r = x W_KR is the same for all
heads and is turned by position. Where queries are made alike, c_Q = N(x W_DQ) and q = c_Q W_UQ.

So W_K and W_V of :class:`~viz.core.heads.HeadWeights` are applied to (c, r): W_K is W_UK for c, and hands r on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from viz.models.layout import Layer, linear


@dataclass(frozen=True, kw_only=True)
class Latent:
    """Sizes of a layer with latent attention: of c, of r, and of c_Q, None where W_Q reads the token's own vector."""

    c: int
    r: int
    c_q: int | None


_matrices: "WeakKeyDictionary[nn.Module, tuple[Tensor, Tensor]]" = WeakKeyDictionary()
"""W_K and W_V by the module of the layer: made once, and shared by all captures of a model."""


def compressing(layer: Layer) -> nn.Module | None:
    """Return the module that makes c, before its norm, and r; None for a layer of another kind."""
    return layer.attention.get_submodule("kv_a_proj_with_mqa") if layer.layout.latent else None


def read_latent(layer: Layer) -> Latent | None:
    """Return the sizes of a layer's short vectors; None for a layer of another kind."""
    if (down := compressing(layer)) is None:
        return None
    q_up, kv_up = (linear(module)[0] for module in layer.projections)
    c = kv_up.shape[0]
    reads_latent = getattr(layer.attention, "q_b_proj", None) is not None
    return Latent(c=c, r=linear(down)[0].shape[1] - c, c_q=q_up.shape[0] if reads_latent else None)


def read_memory(layer: Layer, latent: Latent, read: Tensor, latents: Mapping[int, Tensor]) -> Tensor:
    """Return what W_K and W_V of a layer are applied to: (c, r) of each token.

    ``read`` is what the module reads that makes keys and values, (T, d_model), or (1, T, c); ``latents`` are the
    outputs of the modules that compress, (T, c + r), by their layers' attention.
    """
    return torch.cat([read.reshape(-1, latent.c), latents[id(layer.attention)][:, latent.c :]], dim=-1)


def key_value_matrices(layer: Layer, latent: Latent, n_heads: int, d_v: int) -> tuple[Tensor, Tensor]:
    """Return W_K (c + r, H d_k) and W_V (c + r, H d_v)."""
    if (matrices := _matrices.get(layer.attention)) is None:
        by_head = linear(layer.projections[1])[0].unflatten(1, (n_heads, -1))
        up_k, up_v = by_head[..., : by_head.shape[-1] - d_v], by_head[..., by_head.shape[-1] - d_v :]
        handed_on = torch.eye(latent.r)[:, None].expand(-1, n_heads, -1)
        w_k = torch.cat([nn.functional.pad(up_k, (0, latent.r)), nn.functional.pad(handed_on, (up_k.shape[-1], 0))])
        w_v = nn.functional.pad(up_v, (0, 0, 0, 0, 0, latent.r))
        matrices = _matrices.setdefault(layer.attention, (w_k.flatten(1), w_v.flatten(1)))
    return matrices
