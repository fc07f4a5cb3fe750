"""Heads that look at a place, done wrong on purpose: the shift for the centre, the other sign, too narrow values."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec
from viz.core.variants.relative import QuadraticHeads, kernel_offsets, shifts


def shift_for_centre(alpha: Float[Tensor, " H"], grid: Sequence[int]) -> Float[Tensor, "H P P"]:
    r"""The shift put where the head's own centre belongs: :math:`v = -\alpha (1, -2\delta)`.

    .. math:: v \cdot r_\delta = -\alpha (\lVert\delta\rVert^2 - 2 \lVert\delta\rVert^2) = +\alpha \lVert\delta\rVert^2

    The sign has turned and no centre is left: such a head looks at the key that is farthest away.

    Example:
        >>> shift_for_centre(torch.tensor([1.0]), (3,))[0, 0, 1:].tolist()
        [1.0, 4.0]
    """
    delta = shifts(grid)
    square = delta.square().sum(-1, keepdim=True)
    v = torch.cat([torch.ones_like(square), -2 * delta], -1)
    return -alpha[:, None, None] * (v * torch.cat([square, delta], -1)).sum(-1)


def query_minus_key(heads: QuadraticHeads) -> QuadraticHeads:
    r"""The same heads where a shift is counted from the key to the query, :math:`\delta' = q - k = -\delta`.

    .. math:: -\alpha \lVert \delta' - \Delta \rVert^2 = -\alpha \lVert \delta - (-\Delta) \rVert^2

    Every head looks the opposite way, so the kernel comes out turned round in all its axes.

    Example:
        >>> from viz.core.variants.relative import heads_from_kernel
        >>> ahead = heads_from_kernel(torch.tensor([[[0.0, 0.0, 1.0]]]), alpha=40.0)
        >>> query_minus_key(ahead).layer(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 2.]])
    """
    return replace(heads, offset=-heads.offset)


def narrow_heads(kernel: Float[Tensor, "d_out d_in *sizes"], d_v: int, *, alpha: float) -> QuadraticHeads:
    r"""The heads of a kernel with only ``d_v`` numbers in a value: each cell's matrix as near as rank d_v can come.

    .. math:: W_V^{(u)} W_O^{(u)} = \sum_{i \le d_v} \sigma_i\, a_i b_i^\top \approx w_{\cdot, \cdot, u}^\top

    By the singular values, so no other matrices of this width are nearer (Eckart and Young 1936). From
    :math:`d_v = \min(d_{in}, d_{out})` on nothing is lost (Cordonnier et al. 2020, theorem 1).

    Args:
        kernel: as in ``Conv2d``, odd sizes.
        d_v: width of a value.
        alpha: how sharply each head looks at its cell.

    Example:
        Two channels that the kernel keeps apart do not fit into one number.

        >>> narrow_heads(torch.tensor([[[2.0], [0.0]], [[0.0], [1.0]]]), 1, alpha=40.0).layer(torch.ones(2, 1))
        tensor([[2.],
                [0.]])
    """
    offset = kernel_offsets(kernel.shape[2:]).to(kernel.dtype)
    u, sizes, vh = torch.linalg.svd(kernel.flatten(2).permute(2, 1, 0), full_matrices=False)
    H, d_in, rank = u.shape
    w_v, w_o = kernel.new_zeros(H, d_in, d_v), kernel.new_zeros(H, d_v, vh.shape[-1])
    n_kept = min(d_v, rank)
    w_v[..., :n_kept], w_o[:, :n_kept] = u[..., :n_kept] * sizes[:, None, :n_kept], vh[:, :n_kept]
    spec = AttentionSpec(d_model=d_in, n_heads=H, d_head=1, d_value=d_v, d_output=vh.shape[-1])
    nothing = kernel.new_zeros(d_in, H)
    weights = HeadWeights(
        spec=spec, w_q=nothing, w_k=nothing, w_v=w_v.transpose(0, 1).flatten(1), w_o=w_o.flatten(0, 1)
    )
    return QuadraticHeads(offset=offset, alpha=offset.new_tensor([alpha]).expand(H), weights=weights)
