"""RoPE as models turn it today: only some dimensions, slower for longer texts, or not at all but with a temperature."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from viz.core.positions import Pairing, frequencies, rope


def partial_rope(
    x: Float[Tensor, "*B T d_k"],
    rotary_dim: int,
    *,
    base: float = 10_000.0,
    pairing: Pairing,
    positions: Int[Tensor, " T"] | None = None,
    omega: Float[Tensor, " pairs"] | None = None,
) -> Float[Tensor, "*B T d_k"]:
    r"""Turn the first r dimensions of each query or key by position; the others carry meaning alone.

    .. math:: \omega_j = \text{base}^{-2j/r}, \quad 0 \le j < r/2

    GPT-J and GPT-NeoX; a quarter of them in Qwen 3-Next. Standard RoPE at :math:`r = d_k`, no position at r = 0.

    Args:
        x: queries or keys.
        rotary_dim: r.
        base: of the speeds.
        pairing: as in :func:`~viz.core.positions.rope`, among the first r dimensions.
        positions: where each row stands; None counts from 0.
        omega: speeds of the r / 2 pairs, in place of those of ``base``.

    Raises:
        ValueError: if r is odd, or not between 0 and d_k.

    Example:
        >>> partial_rope(torch.ones(2, 4), 2, pairing="halves")[1]
        tensor([-0.3012,  1.3818,  1.0000,  1.0000])
    """
    width = x.shape[-1]
    if not 0 <= rotary_dim <= width:
        raise ValueError(f"rotary_dim={rotary_dim} is not between 0 and d_k={width}")
    if rotary_dim == 0:
        return x
    rotated = rope(x[..., :rotary_dim], base=base, pairing=pairing, positions=positions, omega=omega)
    return torch.cat([rotated, x[..., rotary_dim:]], -1)


def proportional_frequencies(width: int, rotary_dim: int, *, base: float = 10_000.0) -> Float[Tensor, " pairs"]:
    """Return the angular speeds of a head of which only the ``rotary_dim`` / 2 fastest pairs turn; the rest get 0.

    Gemma 4's full layers ("proportional", a quarter): as :func:`partial_rope`, but the speeds are those of the whole
    width. float64, for the ``omega`` of :func:`~viz.core.positions.rope`. Standard at ``rotary_dim = width``.

    Raises:
        ValueError: if ``rotary_dim`` is odd, or not between 0 and ``width``.

    Example:
        >>> proportional_frequencies(8, 4, base=100.0)
        tensor([1.0000, 0.3162, 0.0000, 0.0000], dtype=torch.float64)
    """
    if not 0 <= rotary_dim <= width or rotary_dim % 2:
        raise ValueError(f"rotary_dim={rotary_dim} is not an even number between 0 and width={width}")
    omega = frequencies(width, base=base)
    omega[rotary_dim // 2 :] = 0
    return omega


def yarn_ramp(
    width: int, *, base: float = 10_000.0, original: int, fast: float = 32.0, slow: float = 1.0, rounds: bool = True
) -> Float[Tensor, " pairs"]:
    r"""Return how much of its speed each pair keeps: 1 for fast pairs, 0 for slow ones, a straight line between.

    .. math:: \rho_j = 1 - \frac{j - j_{fast}}{j_{slow} - j_{fast}} \text{ within } [0, 1], \qquad
              j_r = \frac{D \ln(T / 2 \pi r)}{2 \ln \text{base}}

    :math:`j_r` is the pair that makes r turns over the ``original`` length T. Peng et al. 2024 (2309.00071), eq. 18,
    where the line is straight in turns; it is straight in j in the code that models run, and ``rounds`` moves its ends
    to whole pairs (gpt-oss does not). Where even the slowest pair makes ``fast`` turns, all keep their speed;
    transformers slows them all down once :math:`j_{fast}` exceeds D - 1.

    Args:
        width: numbers in a query or key, or those that turn.
        base: of RoPE.
        original: tokens a text had in training.
        fast: from so many turns on a pair keeps its speed.
        slow: up to so many turns it is slowed down fully.
        rounds: move both ends outwards to whole pairs.

    Example:
        >>> yarn_ramp(8, base=100.0, original=64, fast=4.0, slow=1.0)
        tensor([1.0000, 0.6667, 0.3333, 0.0000], dtype=torch.float64)
    """
    first, last = (width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (fast, slow))
    if rounds:
        first, last = math.floor(first), math.ceil(last)
    first = max(first, 0)
    last = max(first, min(last, width - 1))
    pairs = torch.arange(width // 2, dtype=torch.float64)
    return 1 - ((pairs - first) / (last - first if last != first else 0.001)).clamp(0, 1)


def yarn_frequencies(
    width: int,
    *,
    factor: float,
    base: float = 10_000.0,
    original: int,
    fast: float = 32.0,
    slow: float = 1.0,
    rounds: bool = True,
) -> Float[Tensor, " pairs"]:
    r"""Return the angular speeds of a model made to read texts ``factor`` times as long as in training.

    .. math:: \omega'_j = \rho_j\, \omega_j + (1 - \rho_j)\, \omega_j / s

    Pairs that turn many times know the order of neighbours and stay; those that never came round are stretched. Peng
    et al. 2024 (2309.00071), "YaRN"; queries and keys are multiplied by :func:`yarn_gain`. float64, for the ``omega``
    of :func:`~viz.core.positions.rope`. Standard at s = 1.

    Args:
        width: numbers in a query or key.
        factor: s.
        base: of RoPE.
        original: tokens a text had in training.
        fast: as in :func:`yarn_ramp`, like ``slow`` and ``rounds``.
        slow: turns up to which a pair is slowed down fully.
        rounds: move both ends to whole pairs.

    Example:
        >>> yarn_frequencies(8, factor=4.0, base=100.0, original=64, fast=4.0)[-1]  # 0.0316 / 4
        tensor(0.0079, dtype=torch.float64)
    """
    omega = frequencies(width, base=base)
    ramp = yarn_ramp(width, base=base, original=original, fast=fast, slow=slow, rounds=rounds)
    return ramp * omega + (1 - ramp) * omega / factor


def yarn_gain(factor: float) -> float:
    r"""Return what queries and keys are multiplied by, so that rows over longer texts stay as sharp.

    .. math:: 0.1 \ln s + 1

    Peng et al. 2024, eq. 22; 1 up to s = 1. Scores grow by its square.

    Example:
        >>> round(yarn_gain(32.0), 4), yarn_gain(1.0)
        (1.3466, 1.0)
    """
    return 0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0


def temperatures(
    positions: Int[Tensor, " T"], *, floor: int = 8192, gain: float = 0.1, growth: str = "steps"
) -> Float[Tensor, " T"]:
    r"""Return what queries are multiplied by, growing slowly with their place: the more keys, the flatter a row else.

    .. math:: 1 + g \ln\big(1 + \lfloor (i + 1) / F \rfloor\big), \quad 1 + g \ln \max((i + 1) / F, 1),
              \quad 1 + g \ln (i + 1)

    Nakanishi 2025 (2501.19399). In steps in Llama 4, for layers without positions; smooth from F = 128,000 tokens on in
    Inkling 2; the logarithm itself in Mistral Large 4, whose heads learn the gain and the 1. Standard at a ``gain`` of
    0, and at first: for ``floor`` - 1 tokens, ``floor``, or one.

    Raises:
        ValueError: if ``floor`` is below 1.

    Example:
        >>> temperatures(torch.tensor([0, 8190, 8191, 100_000]))
        tensor([1.0000, 1.0000, 1.0693, 1.2565])
        >>> temperatures(torch.tensor([0, 8191, 100_000]), growth="smooth")
        tensor([1.0000, 1.0000, 1.2502])
    """
    if floor < 1:
        raise ValueError(f"floor={floor} must be at least 1")
    n_seen = (positions + 1).double()
    factor = {"steps": 1 + (n_seen / floor).floor(), "smooth": (n_seen / floor).clamp(min=1), "logarithm": n_seen}
    return 1 + gain * factor[growth].log().float()
