"""Many heads side by side: project, split, attend, concatenate, mix. MHA, GQA and MQA are one code path."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import ScoreMod, attend
from viz.core.spec import AttentionSpec


def split_heads(x: Float[Tensor, "*B T width"], n_heads: int) -> Float[Tensor, "*B heads T d"]:
    """Cut every token's vector into ``n_heads`` pieces of equal width, one for each head.

    Raises:
        ValueError: if the width is not a multiple of ``n_heads``.

    Example:
        >>> split_heads(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), 2).tolist()
        [[[1.0, 2.0]], [[3.0, 4.0]]]
    """
    if x.shape[-1] % n_heads:
        raise ValueError(f"width={x.shape[-1]} is not a multiple of n_heads={n_heads}")
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def share_kv(x: Float[Tensor, "*B G K d"], n_heads: int) -> Float[Tensor, "*B H K d"]:
    r"""Let H query heads share G key or value heads: head i uses number :math:`\lfloor i G / H \rfloor`.

    Neighbours share (0 0 1 1, not 0 1 0 1): ``repeat`` has the same shapes and the wrong pairs.
    Shazeer 2019 (G = 1), Ainslie et al. 2023 (any G).

    Raises:
        ValueError: if ``n_heads`` is not a multiple of G.

    Example:
        >>> share_kv(torch.tensor([[[1.0]], [[2.0]]]), 4).flatten()
        tensor([1., 1., 2., 2.])
    """
    n_kv_heads = x.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"n_heads={n_heads} is not a multiple of n_kv_heads={n_kv_heads}")
    shared = x.unsqueeze(-3).expand(*x.shape[:-2], n_heads // n_kv_heads, *x.shape[-2:])
    return shared.flatten(-4, -3)


def concat_heads(x: Float[Tensor, "*B heads T d"]) -> Float[Tensor, "*B T width"]:
    """Lay the heads side by side again: head i fills columns [i d, (i + 1) d). Undoes :func:`split_heads`.

    Example:
        >>> concat_heads(torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]]])).tolist()
        [[1.0, 2.0, 3.0, 4.0]]
    """
    return x.transpose(-2, -3).flatten(-2)


@dataclass(frozen=True, kw_only=True)
class HeadWeights:
    """Weights of a layer: W_Q, W_K, W_V, W_O, the heads side by side, and biases if any.

    Shapes: ``w_q`` (d_model, H d_k), ``w_k`` (d_mem, G d_k), ``w_v`` (d_mem, G d_v), ``w_o`` (H d_v, d_out).
    Columns [i d_k, (i + 1) d_k) of ``w_q`` and rows [i d_v, (i + 1) d_v) of ``w_o`` belong to head i.
    """

    spec: AttentionSpec
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor
    w_o: Tensor
    b_q: Tensor | None = None
    b_k: Tensor | None = None
    b_v: Tensor | None = None
    b_o: Tensor | None = None

    def __post_init__(self) -> None:
        s = self.spec
        H, G, d_k, d_v, d_mem, d_out = s.H, s.G, s.d_k, s.d_v, s.d_mem, s.d_out
        shapes = {
            "w_q": (s.d_model, H * d_k),
            "w_k": (d_mem, G * d_k),
            "w_v": (d_mem, G * d_v),
            "w_o": (H * d_v, d_out),
            "b_q": (H * d_k,),
            "b_k": (G * d_k,),
            "b_v": (G * d_v,),
            "b_o": (d_out,),
        }
        for name, shape in shapes.items():
            tensor = getattr(self, name)
            if tensor is not None and tuple(tensor.shape) != shape:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}, the spec asks for {shape}")

    @classmethod
    def random(cls, spec: AttentionSpec, *, seed: int) -> "HeadWeights":
        r"""Draw weights :math:`\mathcal N(0, 1/\text{rows})`, so that unit-variance tokens give unit-variance q, k.

        Example:
            >>> HeadWeights.random(AttentionSpec(d_model=6, n_heads=3), seed=0).w_k.shape
            torch.Size([6, 6])
        """
        generator = torch.Generator().manual_seed(seed)

        def draw(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=generator) / rows**0.5

        return cls(
            spec=spec,
            w_q=draw(spec.d_model, spec.H * spec.d_k),
            w_k=draw(spec.d_mem, spec.G * spec.d_k),
            w_v=draw(spec.d_mem, spec.G * spec.d_v),
            w_o=draw(spec.H * spec.d_v, spec.d_out),
        )

    @classmethod
    def from_mha(cls, weights: "HeadWeights", n_kv_heads: int) -> "HeadWeights":
        """Share keys and values among fewer heads by averaging each group's (Ainslie et al. 2023, sec. 2.1).

        The paper trains on after this; without that the layer computes something else than before.

        Raises:
            ValueError: if the number of key/value heads is not a multiple of ``n_kv_heads``.
        """
        old = weights.spec
        spec = replace(old, n_kv_heads=n_kv_heads)
        if old.G % spec.G:
            raise ValueError(f"n_kv_heads={old.G} cannot be pooled into n_kv_heads={spec.G}")

        def pool(columns: Tensor | None) -> Tensor | None:
            return (
                None if columns is None else columns.unflatten(-1, (spec.G, old.G // spec.G, -1)).mean(-2).flatten(-2)
            )

        pooled: dict[str, Any] = {name: pool(getattr(weights, name)) for name in ("w_k", "w_v", "b_k", "b_v")}
        return replace(weights, spec=spec, **pooled)

    def n_parameters(self) -> int:
        """Numbers learned, counted from the tensors themselves."""
        return sum(value.numel() for value in vars(self).values() if isinstance(value, Tensor))


@dataclass(frozen=True, kw_only=True)
class MultiHeadTrace:
    """Every intermediate of one layer, in order of computation.

    ``x`` (Q, d_model) and ``memory`` (K, d_mem) go in; ``q`` (H, Q, d_k), ``k`` (G, K, d_k) and ``v`` (G, K, d_v) are
    their projections; ``scores`` to ``weights`` (H, Q, K) the steps of attention; then ``head_outputs`` (H, Q, d_v),
    ``concat`` (Q, H d_v), ``contributions`` (H, Q, d_out), whose sum over the heads (plus ``b_o``) is ``output``
    (Q, d_out). A ``gate`` (H, Q, d_v or 1) multiplies ``head_outputs`` before they become ``concat``.
    """

    x: Tensor
    memory: Tensor
    projections: HeadWeights
    q: Tensor
    k: Tensor
    v: Tensor
    scale: float
    allowed: Tensor | None
    scores: Tensor
    scaled: Tensor
    masked: Tensor
    weights: Tensor
    head_outputs: Tensor
    concat: Tensor
    contributions: Tensor
    output: Tensor
    gate: Tensor | None = None


def project(x: Float[Tensor, "*B T d"], w: Float[Tensor, "d width"], b: Float[Tensor, " width"] | None) -> Tensor:
    """X W + b."""
    return x @ w if b is None else x @ w + b


def merge_heads(
    q: Float[Tensor, "*B H Q d_k"],
    k: Float[Tensor, "*B G K d_k"],
    v: Float[Tensor, "*B G K d_v"],
    weights: HeadWeights,
    *,
    x: Float[Tensor, "*B Q d_model"],
    memory: Float[Tensor, "*B K d_mem"],
    allowed: Bool[Tensor, "*M #Q #K"] | None = None,
    bias: Float[Tensor, "*A #Q #K"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
    sink: Float[Tensor, " H"] | None = None,
    gate: Float[Tensor, "*B H Q #d_v"] | None = None,
) -> MultiHeadTrace:
    r"""Attend in every head, concatenate, and mix with W_O: all that comes after the projections.

    .. math:: \operatorname{concat}(Z_1, \dots, Z_H)\, W_O = \sum_i Z_i W_O^i

    A model that turns its q and k by position (RoPE) before attending enters here.

    ``allowed``, ``bias``, ``scale``, ``score_mod`` and ``sink`` are those of :func:`~viz.core.attention.attend`; a
    ``gate`` multiplies what each head gives, before W_O.
    """
    H = weights.spec.H
    options: dict[str, Any] = {"allowed": allowed, "bias": bias, "scale": scale, "score_mod": score_mod, "sink": sink}
    steps = attend(q, share_kv(k, H), share_kv(v, H), **options)
    gated = steps.output if gate is None else steps.output * gate
    contributions = gated @ weights.w_o.unflatten(0, (H, -1))
    output = contributions.sum(-3) if weights.b_o is None else contributions.sum(-3) + weights.b_o
    return MultiHeadTrace(
        x=x,
        memory=memory,
        projections=weights,
        q=q,
        k=k,
        v=v,
        scale=steps.scale,
        allowed=steps.allowed,
        scores=steps.scores,
        scaled=steps.scaled,
        masked=steps.masked,
        weights=steps.weights,
        head_outputs=steps.output,
        gate=gate,
        concat=concat_heads(gated),
        contributions=contributions,
        output=output,
    )


def multi_head(
    x: Float[Tensor, "*B Q d_model"],
    memory: Float[Tensor, "*B K d_mem"],
    weights: HeadWeights,
    *,
    allowed: Bool[Tensor, "*M #Q #K"] | None = None,
    bias: Float[Tensor, "*A #Q #K"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
) -> MultiHeadTrace:
    r"""Attend from ``x`` to ``memory`` with H heads, and keep each step.

    .. math:: Z_i = \operatorname{attend}(X W_Q^i, M W_K^{g(i)}, M W_V^{g(i)}), \quad
              \operatorname{output} = [Z_1; \dots; Z_H]\, W_O

    Vaswani et al. 2017, sec. 3.2.2; with G < H, Shazeer 2019 and Ainslie et al. 2023, where
    :math:`g(i) = \lfloor i G / H \rfloor`. Self-attention is ``memory = x``.

    ``allowed``, ``bias``, ``scale`` and ``score_mod`` are those of :func:`~viz.core.attention.attend`.

    Example:
        >>> x = torch.eye(3)
        >>> trace = multi_head(x, x, HeadWeights.random(AttentionSpec(d_model=3, n_heads=1), seed=0))
        >>> torch.allclose(trace.contributions.sum(0), trace.output)
        True
    """
    s = weights.spec
    q = split_heads(project(x, weights.w_q, weights.b_q), s.H)
    k = split_heads(project(memory, weights.w_k, weights.b_k), s.G)
    v = split_heads(project(memory, weights.w_v, weights.b_v), s.G)
    return merge_heads(
        q, k, v, weights, x=x, memory=memory, allowed=allowed, bias=bias, scale=scale, score_mod=score_mod
    )
