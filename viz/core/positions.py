"""Encodings of positions: sinusoids, rotations of queries and keys, and biases by distance.

An offset is always key position minus query position: negative looks back. Angles are computed in float64, since
float32 is off by 1e-3 at position 10,000 already, and handed out in float32.
"""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from viz.core.spec import OddWidthError

Pairing = Literal["adjacent", "halves"]


def offsets(n_queries: int, n_keys: int) -> Int[Tensor, "Q K"]:
    """Key position minus query position for every pair; the last query stands beside the last key, as in masks.

    Example:
        >>> offsets(2, 3)
        tensor([[-1,  0,  1],
                [-2, -1,  0]])
    """
    return torch.arange(n_keys) - (torch.arange(n_queries)[:, None] + n_keys - n_queries)


def frequencies(width: int, *, base: float = 10_000.0) -> Float[Tensor, " pairs"]:
    r"""Rotation of each pair of dimensions from one position to the next, in radians; float64.

    .. math:: \omega_j = \text{base}^{-2j/D}, \quad 0 \le j < D/2

    Its wavelength is :math:`2\pi / \omega_j` positions, from :math:`2\pi` up to nearly :math:`\text{base} \cdot 2\pi`.

    Raises:
        OddWidthError: if ``width`` is odd (dimensions come in pairs) or below 2.
        ValueError: if ``base`` is not above 0.

    Example:
        >>> frequencies(4, base=100.0).tolist()
        [1.0, 0.1]
    """
    if width < 2 or width % 2:
        raise OddWidthError(width)
    if not (base > 0 and math.isfinite(base)):
        raise ValueError(f"base={base} must be above 0")
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoidal(n_positions: int, d_model: int, *, base: float = 10_000.0) -> Float[Tensor, "T d_model"]:
    r"""One row for each position, to be added to the token at that position.

    .. math:: p_{i, 2j} = \sin(i\, \omega_j), \quad p_{i, 2j+1} = \cos(i\, \omega_j),
              \quad \omega_j = \text{base}^{-2j/D}

    Vaswani et al. 2017, sec. 3.5. Every row has length :math:`\sqrt{D/2}`.

    Raises:
        ValueError: if ``d_model`` is odd. Dropping the last cosine instead would make rows of unequal length.

    Example:
        >>> sinusoidal(2, 4)
        tensor([[0.0000, 1.0000, 0.0000, 1.0000],
                [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    angles = torch.arange(n_positions, dtype=torch.float64)[:, None] * frequencies(d_model, base=base)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


def rotation(offset: int, width: int, *, base: float = 10_000.0) -> Float[Tensor, "width width"]:
    r"""R_k, which moves every sinusoidal row k positions on: p(i + k) = R_k p(i), whatever i is.

    .. math:: R_k = \operatorname{diag}_j
              \begin{pmatrix} \cos k\omega_j & \sin k\omega_j \\ -\sin k\omega_j & \cos k\omega_j \end{pmatrix}

    Example:
        >>> torch.allclose(rotation(3, 4) @ sinusoidal(6, 4)[2], sinusoidal(6, 4)[5])
        True
    """
    angles = offset * frequencies(width, base=base)
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)
    return torch.block_diag(*blocks).float()


def rope(
    x: Float[Tensor, "*B T d_k"],
    *,
    base: float = 10_000.0,
    pairing: Pairing,
    positions: Int[Tensor, " T"] | None = None,
    omega: Float[Tensor, " pairs"] | None = None,
) -> Float[Tensor, "*B T d_k"]:
    r"""Turn each pair of dimensions of a query or key by an angle that grows with its position.

    .. math:: (a, b) \mapsto (a \cos i\omega_j - b \sin i\omega_j,\; a \sin i\omega_j + b \cos i\omega_j)

    Su et al. 2021, sec. 3.4.2. The dot product of a turned query and a turned key depends on their positions through
    the offset alone. There is no default for ``pairing``: code and checkpoints differ, and the wrong one runs.

    Args:
        x: queries or keys.
        base: 10,000 in the paper; later models take more.
        pairing: which dimensions form pair j: "adjacent" is 2j and 2j + 1 (the paper, GPT-J), "halves" is j and
            j + d_k/2 (Llama as transformers has it).
        positions: where each row stands; None counts from 0.
        omega: radians from one position to the next, one for each pair, in place of those of ``base``.

    Raises:
        ValueError: if d_k is odd.

    Example:
        A quarter turn at position 1 would be pi/2; here it is 1 radian.

        >>> rope(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), pairing="adjacent")
        tensor([[1.0000, 0.0000],
                [0.5403, 0.8415]])
    """
    n, width = x.shape[-2:]
    places = torch.arange(n) if positions is None else positions
    speeds = frequencies(width, base=base) if omega is None else omega.double()
    angles = places[:, None].double() * speeds
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    pairs = x.unflatten(-1, (-1, 2)) if pairing == "adjacent" else x.unflatten(-1, (2, -1)).mT
    a, b = pairs.unbind(-1)
    rotated = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return (rotated if pairing == "adjacent" else rotated.mT).flatten(-2)


def alibi_slopes(n_heads: int) -> Float[Tensor, " H"]:
    r"""Slope of each head's penalty on distance.

    .. math:: m_h = 2^{-8h/H}, \quad h = 1 \dots H

    Press et al. 2022, sec. 3, for H a power of two. Otherwise, as in their code: the slopes of the next lower power of
    two, then every second slope of the next higher one.

    Example:
        >>> alibi_slopes(3)
        tensor([0.0625, 0.0039, 0.2500])
    """
    if n_heads < 1:
        raise ValueError(f"n_heads={n_heads} must be at least 1")
    lower = 2 ** int(math.log2(n_heads))
    slopes = [2.0 ** (-8 * h / lower) for h in range(1, lower + 1)]
    slopes += [2.0 ** (-8 * h / (2 * lower)) for h in range(1, 2 * (n_heads - lower), 2)]
    return torch.tensor(slopes)


def alibi(n_heads: int, n_queries: int, n_keys: int) -> Float[Tensor, "H Q K"]:
    r"""A bias that falls off linearly with distance: no position enters anywhere else.

    .. math:: \text{bias}_{h,i,j} = -m_h\, |j - i|

    Press et al. 2022, eq. 1. The paper looks back only, where \|j - i\| is i - j; here keys ahead are as far as keys
    behind, so that it can be used without a causal mask.

    Example:
        >>> alibi(1, 2, 2)[0]
        tensor([[-0.0000, -0.0039],
                [-0.0039, -0.0000]])
    """
    return -alibi_slopes(n_heads)[:, None, None] * offsets(n_queries, n_keys).abs().float()


def t5_buckets(
    offset: Int[Tensor, "*B"], *, n_buckets: int = 32, max_distance: int = 128, both_ways: bool = True
) -> Int[Tensor, "*B"]:
    """Sort offsets into buckets: small ones exactly, larger ones by their logarithm, the rest into one.

    Raffel et al. 2020, sec. 2.1, as in their code. Half of the buckets are for keys ahead if ``both_ways``;
    otherwise those keys fall into bucket 0. From ``max_distance`` on, all distances are one.

    Example:
        >>> t5_buckets(torch.tensor([0, -1, 1, -7, -8, -127, -9999])).tolist()
        [0, 1, 17, 7, 8, 15, 15]
    """
    n = n_buckets // 2 if both_ways else n_buckets
    distance = offset.abs() if both_ways else (-offset).clamp(min=0)
    exact = n // 2
    # float32 on purpose: the boundaries are rounded as in the code that trained the models
    log = torch.log(distance.float().clamp(min=1) / exact) / math.log(max_distance / exact) * (n - exact)
    bucket = torch.where(distance < exact, distance, (exact + log.long()).clamp(max=n - 1))
    return bucket + (n * (offset > 0) if both_ways else 0)


def t5_bias(table: Float[Tensor, "n_buckets H"], n_queries: int, n_keys: int) -> Float[Tensor, "H Q K"]:
    """A learned number for each bucket of offsets and each head, added to the scores; both directions.

    Raffel et al. 2020, sec. 2.1.

    Example:
        >>> t5_bias(torch.arange(32.0)[:, None], 2, 2)[0]
        tensor([[ 0., 17.],
                [ 1.,  0.]])
    """
    return table[t5_buckets(offsets(n_queries, n_keys), n_buckets=table.shape[0])].movedim(-1, 0)
