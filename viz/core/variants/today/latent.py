"""Multi-head latent attention: keys and values of all heads come out of one short vector a token, which is cached."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import HeadWeights, concat_heads, share_kv, split_heads
from viz.core.norm import NormWeights, rms_norm

Turn = Callable[[Tensor], Tensor]
"""Moves queries or keys by position, e.g. :func:`~viz.core.positions.rope`."""


@dataclass(frozen=True, kw_only=True)
class LatentSpec:
    """The sizes of a layer: a latent vector of ``d_latent`` numbers; heads of ``d_nope`` numbers that know no position,
    ``d_rope`` that do, and ``d_value`` in a value.

    Raises:
        ValueError: if a size is below 1; ``d_rope`` may be 0.
    """

    d_model: int
    n_heads: int
    d_latent: int
    d_nope: int
    d_rope: int
    d_value: int

    def __post_init__(self) -> None:
        for name, size in vars(self).items():
            if size < (0 if name == "d_rope" else 1):
                raise ValueError(f"{name}={size} must be at least {0 if name == 'd_rope' else 1}")

    @property
    def cache_width(self) -> int:
        """Numbers cached for each token and layer: the latent vector, and the key with RoPE that all heads share.

        Example:
            >>> deepseek_v3 = LatentSpec(
            ...     d_model=7168, n_heads=128, d_latent=512, d_nope=128, d_rope=64, d_value=128
            ... )
            >>> deepseek_v3.cache_width, deepseek_v3.expanded_width
            (576, 40960)
        """
        return self.d_latent + self.d_rope

    @property
    def expanded_width(self) -> int:
        """Numbers of the keys and values of all heads, which a cache without the latent vector would hold."""
        return self.n_heads * (self.d_nope + self.d_rope + self.d_value)


@dataclass(frozen=True, kw_only=True)
class LatentWeights:
    """Weights of a layer, the heads side by side in the columns of ``w_q``, ``w_up_k`` and ``w_up_v``.

    Shapes: ``w_q`` (d_model, H (d_nope + d_rope)); ``w_down`` (d_model, d_latent) and ``gain`` (d_latent,), the norm
    of the latent vector, None for none; ``w_rope_k`` (d_model, d_rope); ``w_up_k`` (d_latent, H d_nope); ``w_up_v``
    (d_latent, H d_value); ``w_o`` (H d_value, d_model). Queries may come out of a vector of their own, never cached:
    ``w_q_down`` (d_model, d_q) and ``q_gain`` (d_q,); then ``w_q`` has d_q rows.
    """

    spec: LatentSpec
    w_q: Tensor
    w_down: Tensor
    w_rope_k: Tensor
    w_up_k: Tensor
    w_up_v: Tensor
    w_o: Tensor
    gain: Tensor | None = None
    w_q_down: Tensor | None = None
    q_gain: Tensor | None = None
    eps: float = 1e-6

    @classmethod
    def random(cls, spec: LatentSpec, *, seed: int) -> "LatentWeights":
        r"""Draw weights :math:`\mathcal N(0, 1/\text{rows})`, as :meth:`viz.core.heads.HeadWeights.random` does."""
        s, generator = spec, torch.Generator().manual_seed(seed)
        shapes = {
            "w_q": (s.d_model, s.n_heads * (s.d_nope + s.d_rope)),
            "w_down": (s.d_model, s.d_latent),
            "w_rope_k": (s.d_model, s.d_rope),
            "w_up_k": (s.d_latent, s.n_heads * s.d_nope),
            "w_up_v": (s.d_latent, s.n_heads * s.d_value),
            "w_o": (s.n_heads * s.d_value, s.d_model),
        }
        matrices = {name: torch.randn(shape, generator=generator) / shape[0] ** 0.5 for name, shape in shapes.items()}
        return cls(spec=spec, **matrices, gain=torch.ones(s.d_latent))

    @classmethod
    def from_heads(cls, weights: HeadWeights, *, d_latent: int | None = None) -> "LatentWeights":
        r"""Put W_K and W_V of a standard layer through a latent vector; None: wide enough to lose nothing.

        .. math:: [W_K\; W_V] \approx U_r S_r \cdot V_r^\top

        The nearest of this rank (Eckart and Young 1936). No part is turned, and the latent vector has no norm.

        Raises:
            ValueError: if the layer has biases, or an output of another width than its input.
        """
        s = weights.spec
        has_bias = any(vars(weights)[f"b_{name}"] is not None for name in "qkvo")
        if has_bias or s.d_mem != s.d_model or s.d_out != s.d_model:
            raise ValueError("only a layer without biases whose tokens and output are equally wide can be converted")
        both = torch.cat([weights.w_k, weights.w_v], -1)
        u, singular, vh = torch.linalg.svd(both.double(), full_matrices=False)
        rank = len(singular) if d_latent is None else min(d_latent, len(singular))
        down, up = (u[:, :rank] * singular[:rank]).to(both.dtype), vh[:rank].to(both.dtype)
        up_k, up_v = (
            concat_heads(share_kv(split_heads(part, s.G), s.H)) for part in up.split([s.G * s.d_k, s.G * s.d_v], -1)
        )
        spec = LatentSpec(d_model=s.d_model, n_heads=s.H, d_latent=rank, d_nope=s.d_k, d_rope=0, d_value=s.d_v)
        return cls(
            spec=spec,
            w_q=weights.w_q,
            w_down=down,
            w_rope_k=down.new_zeros(s.d_model, 0),
            w_up_k=up_k,
            w_up_v=up_v,
            w_o=weights.w_o,
        )


@dataclass(frozen=True, kw_only=True)
class LatentTrace:
    """Every intermediate of a layer: the cache, ``latent`` (*B, T, d_latent) and ``rope_key`` (*B, T, d_rope); the
    steps of ``attention``, in either form; ``head_outputs`` (*B, H, T, d_value) and ``output`` (*B, T, d_model).
    """

    latent: Tensor
    rope_key: Tensor
    attention: AttentionTrace
    head_outputs: Tensor
    output: Tensor


def _norm(x: Tensor, gain: Tensor | None, eps: float) -> Tensor:
    return x if gain is None else rms_norm(x, NormWeights(gain=gain, eps=eps))


def latent_cache(
    x: Float[Tensor, "*B T d_model"], weights: LatentWeights, *, turn: Turn = lambda x: x
) -> tuple[Float[Tensor, "*B T d_latent"], Float[Tensor, "*B T d_rope"]]:
    r"""Compute all that is kept of each token: one short vector, and one key that knows its position.

    .. math:: c = \operatorname{RMS}(X W_{DKV}), \qquad r = \operatorname{RoPE}(X W_{KR})

    DeepSeek-AI 2024 (2405.04434), sec. 2.1: one c and one r for all heads.
    """
    latent, r = _norm(x @ weights.w_down, weights.gain, weights.eps), x @ weights.w_rope_k
    return latent, turn(r) if weights.spec.d_rope else r


def latent_queries(
    x: Float[Tensor, "*B T d_model"], weights: LatentWeights, *, turn: Turn = lambda x: x
) -> tuple[Float[Tensor, "*B H T d_nope"], Float[Tensor, "*B H T d_rope"]]:
    """Compute the two parts of every head's queries; the second is turned by position, as the shared key is."""
    s = weights.spec
    if weights.w_q_down is not None:
        x = _norm(x @ weights.w_q_down, weights.q_gain, weights.eps)
    plain, rotary = split_heads(x @ weights.w_q, s.n_heads).split([s.d_nope, s.d_rope], dim=-1)
    return plain, turn(rotary) if s.d_rope else rotary


def attend_latent(
    x: Float[Tensor, "*B T d_model"],
    weights: LatentWeights,
    *,
    turn: Turn = lambda x: x,
    allowed: Bool[Tensor, "*M #T #T"] | None = None,
) -> LatentTrace:
    r"""Expand keys and values out of the latent vectors, and attend in every head: the plain form.

    .. math:: k_{jh} = [c_j W_{UK,h};\; r_j], \quad v_{jh} = c_j W_{UV,h}, \quad
              s_{ij} = (q^n_i \cdot k^n_j + q^r_i \cdot r_j) / \sqrt{d_n + d_r}

    DeepSeek-AI 2024 (2405.04434), eq. 10 to 19. Standard attention where the latent vector is wide enough for W_K and
    W_V, has no norm, and nothing is turned.

    Example:
        >>> spec = LatentSpec(d_model=5, n_heads=3, d_latent=2, d_nope=7, d_rope=4, d_value=11)
        >>> trace = attend_latent(torch.eye(5), LatentWeights.random(spec, seed=0))
        >>> trace.latent.shape, trace.attention.k.shape
        (torch.Size([5, 2]), torch.Size([3, 5, 11]))
    """
    s = weights.spec
    latent, rope_key = latent_cache(x, weights, turn=turn)
    q = torch.cat(latent_queries(x, weights, turn=turn), -1)
    shared = rope_key[..., None, :, :].expand(*rope_key.shape[:-2], s.n_heads, *rope_key.shape[-2:])
    k = torch.cat([split_heads(latent @ weights.w_up_k, s.n_heads), shared], -1)
    v = split_heads(latent @ weights.w_up_v, s.n_heads)
    trace = attend(q, k, v, allowed=allowed)
    output = concat_heads(trace.output) @ weights.w_o
    return LatentTrace(latent=latent, rope_key=rope_key, attention=trace, head_outputs=trace.output, output=output)


def attend_absorbed(
    x: Float[Tensor, "*B T d_model"],
    weights: LatentWeights,
    *,
    turn: Turn = lambda x: x,
    allowed: Bool[Tensor, "*M #T #T"] | None = None,
) -> LatentTrace:
    r"""Attend to the cache as it is, all heads to one key a token: the form a decoder runs.

    .. math:: q^n \cdot (c\, W_{UK}) = (q^n\, W_{UK}^\top) \cdot c, \qquad
              \sum_j a_j (c_j W_{UV}) = \Big(\sum_j a_j c_j\Big) W_{UV}

    Multi-query attention with one key of d_latent + d_rope numbers (576 in DeepSeek-V3) that has the value inside
    it. The same weights and output as :func:`attend_latent`, which see for the arguments.

    Example:
        >>> spec = LatentSpec(d_model=5, n_heads=3, d_latent=2, d_nope=7, d_rope=4, d_value=11)
        >>> weights = LatentWeights.random(spec, seed=0)
        >>> torch.allclose(attend_absorbed(torch.eye(5), weights).output, attend_latent(torch.eye(5), weights).output)
        True
    """
    s = weights.spec
    latent, rope_key = latent_cache(x, weights, turn=turn)
    plain, q_rope = latent_queries(x, weights, turn=turn)
    w_up_k, w_up_v = split_heads(weights.w_up_k, s.n_heads), split_heads(weights.w_up_v, s.n_heads)
    q = torch.cat([plain @ w_up_k.mT, q_rope], -1)
    key = torch.cat([latent, rope_key], -1)[..., None, :, :]
    # The scale is that of the plain form: the longer key changes no score.
    scale = 1 / math.sqrt(s.d_nope + s.d_rope)
    k, v = share_kv(key, s.n_heads), share_kv(latent[..., None, :, :], s.n_heads)
    trace = attend(q, k, v, allowed=allowed, scale=scale)
    head_outputs = trace.output @ w_up_v
    output = concat_heads(head_outputs) @ weights.w_o
    return LatentTrace(latent=latent, rope_key=rope_key, attention=trace, head_outputs=head_outputs, output=output)
