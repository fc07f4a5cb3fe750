"""Heads that look at a place and not at a word: quadratic relative positions, and convolutions made of them.

Cordonnier, Loukas and Jaggi, ICLR 2020. Throughout, a shift is key position minus query position.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head
from viz.core.spec import AttentionSpec

CHUNK_BYTES = 16 << 20
"""Queries of a picture are taken a few at a time: nine heads on 64 x 64 pixels have 604 MB of scores in all."""


def positions(grid: Sequence[int]) -> Float[Tensor, "P D"]:
    """Coordinates of every cell of a grid in reading order: one number in 1-D, (row, column) in 2-D.

    Example:
        >>> positions((2, 2)).tolist()
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    return torch.cartesian_prod(*(torch.arange(float(size)) for size in grid)).reshape(-1, len(grid))


def shifts(grid: Sequence[int], queries: Int[Tensor, " Q"] | None = None) -> Float[Tensor, "Q P D"]:
    r"""Shift from each query to each key: :math:`\delta = k - q`, constant along diagonals.

    Args:
        grid: sizes, (T,) for a sequence, (rows, columns) for a picture.
        queries: which cells ask; None means all.

    Example:
        >>> shifts((3,))[..., 0].tolist()
        [[0.0, 1.0, 2.0], [-1.0, 0.0, 1.0], [-2.0, -1.0, 0.0]]
    """
    at = positions(grid)
    return at - (at if queries is None else at[queries])[:, None]


def quadratic_scores(
    offset: Float[Tensor, "H D"],
    alpha: Float[Tensor, "#H"],
    grid: Sequence[int],
    queries: Int[Tensor, " Q"] | None = None,
) -> Float[Tensor, "H Q P"]:
    r"""Score every key by how close it is to the head's own centre, seen from the query.

    .. math:: -\alpha \lVert \delta - \Delta \rVert^2

    Cordonnier et al. 2020, eq. 9, without the constant :math:`\alpha \lVert \Delta \rVert^2`, which softmax removes
    (:func:`factored_scores` has it). After softmax this is a window about :math:`1/\sqrt{2\alpha}` wide.

    Args:
        offset: each head's centre :math:`\Delta`.
        alpha: each head's sharpness, or one for all; 0 looks everywhere alike.
        grid: sizes of the sequence or picture.
        queries: which cells ask; None means all.

    Example:
        A head that looks one step ahead.

        >>> quadratic_scores(torch.tensor([[1.0]]), torch.tensor([2.0]), (3,))[0, 0].tolist()
        [-2.0, -0.0, -2.0]
    """
    delta = shifts(grid, queries).to(offset.dtype)
    return -alpha[:, None, None] * (delta - offset[:, None, None]).square().sum(-1)


def position_vectors(
    offset: Float[Tensor, "H D"], alpha: Float[Tensor, "#H"], delta: Float[Tensor, "*B D"]
) -> tuple[Float[Tensor, "H E"], Float[Tensor, "*B E"]]:
    r"""Give the two vectors whose product is the score: the head's :math:`v` and the shift's :math:`r_\delta`.

    .. math:: v = -\alpha (1, -2\Delta), \qquad r_\delta = (\lVert \delta \rVert^2, \delta)

    Cordonnier et al. 2020, eq. 9. Not a value vector: v stands where a query would, r where a key would.

    Example:
        >>> v, r = position_vectors(torch.tensor([[3.0]]), torch.tensor([2.0]), torch.tensor([[-1.0]]))
        >>> v.tolist(), r.tolist()
        ([[-2.0, 12.0]], [[1.0, -1.0]])
    """
    ones = offset.new_ones(len(offset), 1)
    v = -alpha[:, None] * torch.cat([ones, -2 * offset], -1)
    return v, torch.cat([delta.square().sum(-1, keepdim=True), delta], -1)


def factored_scores(
    offset: Float[Tensor, "H D"], alpha: Float[Tensor, "#H"], grid: Sequence[int]
) -> Float[Tensor, "H P P"]:
    r"""Score by the product :math:`v \cdot r_\delta`: :func:`quadratic_scores` plus :math:`\alpha\lVert\Delta\rVert^2`.

    Example:
        >>> factored_scores(torch.tensor([[1.0]]), torch.tensor([2.0]), (3,))[0, 0].tolist()
        [0.0, 2.0, 0.0]
    """
    v, r = position_vectors(offset, alpha, shifts(grid).to(offset.dtype))
    return (r @ v.T).movedim(-1, 0)


@dataclass(frozen=True, kw_only=True)
class QuadraticHeads:
    """A layer of heads that look at fixed shifts: ``offset`` (H, D), ``alpha`` (H), and what W_V and W_O do.

    W_Q = W_K = 0: content has no say in where a head looks. All heads share one value matrix, the identity when the
    layer is made from a kernel; the rows of W_O that belong to head i are then the kernel's cell i.
    """

    offset: Tensor
    alpha: Tensor
    weights: HeadWeights

    def trace(self, image: Float[Tensor, "d_in *grid"], queries: Int[Tensor, " Q"] | None = None) -> MultiHeadTrace:
        """Every intermediate of the layer, for all cells of the grid or for ``queries``."""
        cells = image.flatten(1).T
        asking = cells if queries is None else cells[queries]
        bias = quadratic_scores(self.offset, self.alpha, image.shape[1:], queries)
        return multi_head(asking, cells, self.weights, bias=bias, scale=1.0)

    def layer(self, image: Float[Tensor, "d_in *grid"]) -> Float[Tensor, "d_out *grid"]:
        """Output of the layer for a picture or signal; a few queries at a time, to stay within memory."""
        grid = image.shape[1:]
        n = math.prod(grid)
        at_once = max(1, CHUNK_BYTES // (len(self.offset) * n * image.element_size()))
        rows = [self.trace(image, queries).output for queries in torch.arange(n).split(at_once)]
        return torch.cat(rows).T.reshape(-1, *grid)

    def sharpened(self, alpha: float) -> "QuadraticHeads":
        """The same heads, all with another sharpness."""
        return replace(self, alpha=torch.full_like(self.alpha, alpha))


def value_heads(
    offset: Float[Tensor, "H D"], alpha: Float[Tensor, "#H"], blocks: Float[Tensor, "H d_in d_out"]
) -> QuadraticHeads:
    """Make a layer of quadratic heads that share W_V = identity; ``blocks[i]`` is head i's part of W_O.

    Example:
        >>> heads = value_heads(torch.zeros(1, 1), torch.tensor([40.0]), torch.full((1, 1, 1), 3.0))
        >>> heads.layer(torch.tensor([[1.0, 2.0]]))
        tensor([[3., 6.]])
    """
    H, d_in, d_out = blocks.shape
    spec = AttentionSpec(d_model=d_in, n_heads=H, n_kv_heads=1, d_head=1, d_value=d_in, d_output=d_out)
    nothing = blocks.new_zeros(d_in, 1)
    weights = HeadWeights(
        spec=spec,
        w_q=nothing.expand(d_in, H),
        w_k=nothing,
        w_v=torch.eye(d_in, dtype=blocks.dtype),
        w_o=blocks.flatten(0, 1),
    )
    return QuadraticHeads(offset=offset, alpha=alpha.expand(H), weights=weights)


def kernel_offsets(sizes: Sequence[int]) -> Float[Tensor, "H D"]:
    """The shifts a kernel's cells look at, in the kernel's own order; the middle cell looks at the query itself.

    Raises:
        ValueError: if a size is even, for then no cell is in the middle.

    Example:
        >>> kernel_offsets((3,)).tolist()
        [[-1.0], [0.0], [1.0]]
    """
    if any(size % 2 == 0 for size in sizes):
        raise ValueError(f"kernel sizes {tuple(sizes)} must be odd: an even kernel has no middle")
    return positions(sizes) - torch.tensor([size // 2 for size in sizes])


def heads_from_kernel(kernel: Float[Tensor, "d_out d_in *sizes"], *, alpha: float) -> QuadraticHeads:
    r"""One head for each cell of a convolution's kernel: together they are that convolution as alpha grows.

    .. math:: \Delta^{(u)} = u - \lfloor k/2 \rfloor, \qquad W_O^{(u)} = w_{\cdot, \cdot, u}^\top

    Cordonnier et al. 2020, theorem 1. Convolution as libraries mean it (cross-correlation). At a border the target
    may not exist, and the weight goes to the nearest cell that does: the layer equals ``padding_mode="replicate"``,
    never zero padding.

    Args:
        kernel: as in ``Conv1d`` or ``Conv2d``, odd sizes.
        alpha: how sharply each head looks at its cell; 30 is exact in float32.

    Example:
        >>> shift = torch.tensor([[[0.0, 0.0, 1.0]]])  # every output is its right neighbour
        >>> heads_from_kernel(shift, alpha=40.0).layer(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 3., 3.]])
    """
    offset = kernel_offsets(kernel.shape[2:]).to(kernel.dtype)
    return value_heads(offset, offset.new_tensor([alpha]), kernel.flatten(2).permute(2, 1, 0))


def axial_layer(
    heads: QuadraticHeads, image: Float[Tensor, "d_in rows columns"]
) -> Float[Tensor, "d_out rows columns"]:
    r"""The same layer, cheaper: attend along the columns, then along the rows.

    .. math:: e^{-\alpha \lVert \delta - \Delta \rVert^2} = e^{-\alpha (\delta_1 - \Delta_1)^2}\,
              e^{-\alpha (\delta_2 - \Delta_2)^2}

    A Gaussian window is a product, so its softmax over a rectangle is one too: :math:`P (r + c)` weighted sums
    for each channel in place of :math:`P^2`. Only without content: :math:`q k^\top` does not factor.

    Example:
        >>> heads = heads_from_kernel(torch.ones(1, 1, 3, 3), alpha=2.0)
        >>> image = torch.arange(20.0).reshape(1, 4, 5)
        >>> torch.allclose(axial_layer(heads, image), heads.layer(image), atol=1e-4)
        True
    """
    rows, columns = image.shape[1:]
    down = _window(heads.offset[:, :1], heads.alpha, rows).weights
    across = _window(heads.offset[:, 1:], heads.alpha, columns).weights
    values = torch.einsum("cij,cd->dij", image, heads.weights.w_v)
    averages = down[:, None] @ values @ across.mT[:, None]
    blocks = heads.weights.w_o.unflatten(0, (len(heads.offset), -1))
    return torch.einsum("hdij,hdo->oij", averages, blocks)


def _window(offset: Float[Tensor, "H 1"], alpha: Float[Tensor, " H"], size: int) -> AttentionTrace:
    """Attend along one axis, with nothing but positions to go by."""
    nothing = offset.new_zeros(len(offset), size, 1)
    return attend(nothing, nothing, nothing, bias=quadratic_scores(offset, alpha, (size,)))
