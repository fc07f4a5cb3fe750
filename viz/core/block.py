"""The block around the heads: attention -> add & norm -> feed-forward -> add & norm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.experts import Network, NetworkTrace, network
from viz.core.feed_forward import Activation, FeedForwardWeights
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head
from viz.core.norm import Norm, NormWeights, layer_norm
from viz.core.spec import AttentionSpec
from viz.core.sublayer import Part, SublayerTrace, output_norm, post_norm, pre_norm, sandwich_norm

Attention = Callable[..., MultiHeadTrace]
"""As :func:`~viz.core.heads.multi_head`: called with the tokens that ask, those that answer, the weights and
``allowed``. RoPE, a bias or a soft cap live in here, so a block need not know them."""


@dataclass(frozen=True, kw_only=True)
class BlockWeights:
    """Weights of a block. ``cross`` and its norms are None in an encoder block; ``feed_forward`` may be experts.

    ``attention_out_norm`` and the like are the second norms of a sandwich; None in a block of another design.
    """

    attention: HeadWeights
    attention_norm: NormWeights
    feed_forward: Network
    feed_forward_norm: NormWeights
    cross: HeadWeights | None = None
    cross_norm: NormWeights | None = None
    attention_out_norm: NormWeights | None = None
    cross_out_norm: NormWeights | None = None
    feed_forward_out_norm: NormWeights | None = None

    @classmethod
    def random(cls, spec: AttentionSpec, d_ff: int, *, seed: int, d_memory: int | None = None) -> "BlockWeights":
        """Draw an untrained block; its self-attention is ``HeadWeights.random(spec, seed=seed)``.

        Args:
            spec: the sizes of self-attention, whose output must be as wide as its input.
            d_ff: width of the feed-forward network's hidden layer.
            seed: equal seeds give equal blocks.
            d_memory: width of the tokens a decoder block's cross-attention reads; None makes an encoder block.

        Example:
            >>> spec = AttentionSpec(d_model=6, n_heads=3)
            >>> BlockWeights.random(spec, 24, seed=0).n_parameters()  # 4 * 6 * 6 + 2 * 6 * 24 + 4 * 6
            456
        """
        # One generator makes the seeds of the parts: parts of equal shape and seed would have equal weights.
        seeds = torch.randint(2**31, (2,), generator=torch.Generator().manual_seed(seed)).tolist()
        cross = None
        if d_memory is not None:
            sizes = {name: value for name, value in vars(spec).items() if name != "d_memory"}
            cross = HeadWeights.random(AttentionSpec(**sizes, d_memory=d_memory), seed=seeds[1])
        return cls(
            attention=HeadWeights.random(spec, seed=seed),
            attention_norm=NormWeights.plain(spec.d_model),
            feed_forward=FeedForwardWeights.random(spec.d_model, d_ff, seed=seeds[0]),
            feed_forward_norm=NormWeights.plain(spec.d_model),
            cross=cross,
            cross_norm=None if cross is None else NormWeights.plain(spec.d_model),
        )

    def n_parameters(self) -> int:
        """Numbers learned, counted from the tensors themselves."""
        parts = [part for name, part in vars(self).items() if part is not None and name != "feed_forward"]
        n_besides = sum(value.numel() for part in parts for value in vars(part).values() if isinstance(value, Tensor))
        return self.feed_forward.n_parameters() + n_besides


Place = Literal["post", "pre", "output", "sandwich"]
SUBLAYERS: Mapping[Place, Callable[..., SublayerTrace[Any]]] = {
    "post": post_norm,
    "pre": pre_norm,
    "output": output_norm,
    "sandwich": sandwich_norm,
}
"""By the place of their norms; the last takes a second one."""
STEPS: Mapping[Place, tuple[str, ...]] = {
    "post": ("", "_add", "_norm"),
    "pre": ("_norm", "", "_add"),
    "output": ("", "_norm", "_add"),
    "sandwich": ("_norm", "", "_out_norm", "_add"),
}
"""The steps of a sublayer as their points are called, in order of computation."""


@dataclass(frozen=True, kw_only=True)
class BlockDesign:
    """Design of a block; the default is that of 2017.

    ``norm`` is "post", :math:`N(x + f(x))`, "pre", :math:`x + f(N(x))`, "output", :math:`x + N(f(x))`, or "sandwich",
    :math:`x + N'(f(N(x)))`. Without ``residual`` the x in front of the plus is dropped. ``normalize`` is N:
    :func:`~viz.core.norm.no_norm` switches it off.
    """

    norm: Place = "post"
    normalize: Norm = layer_norm
    activation: Activation = torch.relu
    residual: bool = True

    def sublayer(
        self, x: Tensor, f: Callable[[Tensor], Part], norm: NormWeights, out_norm: NormWeights | None = None
    ) -> SublayerTrace[Part]:
        """Put f between its residual and its norms, as this design has it: :func:`post_norm` and its siblings.

        Raises:
            ValueError: if a sandwich has no second norm.
        """
        norms = [lambda values: self.normalize(values, norm)]
        if self.norm == "sandwich":
            if out_norm is None:
                raise ValueError("these weights have no second norm, which a sandwich needs behind each part")
            norms.append(lambda values: self.normalize(values, out_norm))
        return SUBLAYERS[self.norm](x, f, *norms, residual=self.residual)


@dataclass(frozen=True, kw_only=True)
class BlockTrace:
    """Every intermediate of one block: its sublayers, in order of computation. An encoder block has no cross."""

    weights: BlockWeights
    design: BlockDesign
    attention_sublayer: SublayerTrace[MultiHeadTrace]
    cross_sublayer: SublayerTrace[MultiHeadTrace] | None
    feed_forward_sublayer: SublayerTrace[NetworkTrace]

    @property
    def x(self) -> Tensor:
        """Input of the block, (T, d_model)."""
        return self.attention_sublayer.x

    @property
    def attention(self) -> MultiHeadTrace:
        """Every step of self-attention."""
        return self.attention_sublayer.part

    @property
    def cross(self) -> MultiHeadTrace | None:
        """Every step of cross-attention."""
        return self.cross_sublayer.part if self.cross_sublayer else None

    @property
    def feed_forward(self) -> NetworkTrace:
        """Every step of the feed-forward network, or of the experts in its place."""
        return self.feed_forward_sublayer.part

    @property
    def output(self) -> Tensor:
        """Output of the block, (T, d_model)."""
        return self.feed_forward_sublayer.output

    @cached_property
    def points(self) -> Mapping[str, Tensor]:
        """The (T, d_model) tensors between the parts, by name, in order of computation, from ``x`` on.

        For each part (attention, cross, feed_forward) what it computes under its own name, ``_add`` after the residual,
        ``_norm`` after the norm, ``_out_norm`` after the second one of a sandwich.
        """
        points = {"x": self.x}
        for name in ("attention", "cross", "feed_forward"):
            sublayer: SublayerTrace | None = getattr(self, f"{name}_sublayer")
            if sublayer is not None:
                steps = {"": sublayer.part.output, "_add": sublayer.added, "_norm": sublayer.normed}
                if sublayer.out_normed is not None:
                    steps["_out_norm"] = sublayer.out_normed
                points |= {f"{name}{step}": steps[step] for step in STEPS[self.design.norm]}
        return points

    def before(self, point: str) -> Tensor:
        """Return the point before this one: the input of a norm, or what a sum adds to the residual."""
        names = list(self.points)
        return self.points[names[names.index(point) - 1]]

    def norm_weights(self, point: str) -> NormWeights:
        """Gain and shift of the norm at a point, e.g. "attention_norm"."""
        weights: NormWeights = getattr(self.weights, point)
        return weights


def attention_sublayer(
    x: Tensor, weights: BlockWeights, allowed: Tensor | None, attention: Attention, design: BlockDesign
) -> SublayerTrace[MultiHeadTrace]:
    """Self-attention, with its residual and its norms."""
    return design.sublayer(
        x,
        lambda u: attention(u, u, weights.attention, allowed=allowed),
        weights.attention_norm,
        weights.attention_out_norm,
    )


def feed_forward_sublayer(x: Tensor, weights: BlockWeights, design: BlockDesign) -> SublayerTrace[NetworkTrace]:
    """The feed-forward network or the experts in its place, with its residual and its norms."""
    return design.sublayer(
        x,
        lambda u: network(u, weights.feed_forward, activation=design.activation),
        weights.feed_forward_norm,
        weights.feed_forward_out_norm,
    )


def encoder_block(
    x: Float[Tensor, "*B T d_model"],
    weights: BlockWeights,
    *,
    allowed: Bool[Tensor, "*M #T #T"] | None = None,
    attention: Attention = multi_head,
    design: BlockDesign = BlockDesign(),
) -> BlockTrace:
    r"""Self-attention, then a feed-forward network, each with its residual and its norms; every step kept.

    .. math:: y = N_1(x + \operatorname{SA}(x)), \quad z = N_2(y + \operatorname{FF}(y))
              \qquad \text{(pre: } y = x + \operatorname{SA}(N_1 x), \; z = y + \operatorname{FF}(N_2 y)\text{)}

    Vaswani et al. 2017, fig. 1, left; with a causal mask it is the block of GPT. Models of the other designs have one
    more norm after their last block.

    Args:
        x: the tokens.
        weights: an encoder block's.
        allowed: True where a query may look, as everywhere here; torch's layers mean the opposite.
        attention: how the heads attend.
        design: where the norm stands, which norm and activation, and whether there is a residual.

    Example:
        >>> weights = BlockWeights.random(AttentionSpec(d_model=4, n_heads=2), 8, seed=0)
        >>> list(encoder_block(torch.eye(4), weights).points)  # doctest: +NORMALIZE_WHITESPACE
        ['x', 'attention', 'attention_add', 'attention_norm', 'feed_forward', 'feed_forward_add', 'feed_forward_norm']
    """
    attended = attention_sublayer(x, weights, allowed, attention, design)
    forwarded = feed_forward_sublayer(attended.output, weights, design)
    return BlockTrace(
        weights=weights,
        design=design,
        attention_sublayer=attended,
        cross_sublayer=None,
        feed_forward_sublayer=forwarded,
    )


def decoder_block(
    x: Float[Tensor, "*B Q d_model"],
    memory: Float[Tensor, "*B K d_mem"],
    weights: BlockWeights,
    *,
    allowed: Bool[Tensor, "*M #Q #Q"] | None = None,
    memory_allowed: Bool[Tensor, "*N #Q #K"] | None = None,
    attention: Attention = multi_head,
    cross: Attention = multi_head,
    design: BlockDesign = BlockDesign(),
) -> BlockTrace:
    r"""Self-attention, then attention to another sequence, then a feed-forward network; every step kept.

    .. math:: y = N_1(x + \operatorname{SA}x), y' = N_2(y + \operatorname{CA}(y, M)), z = N_3(y' + \operatorname{FF}y')

    Vaswani et al. 2017, fig. 1, right. The memory is what the encoder hands on; it is read as it is, and not changed.

    Args:
        x: the target's tokens.
        memory: M, the source's tokens, of the width that cross-attention was made for.
        weights: a decoder block's.
        allowed: where the target may look in itself; a decoder's is causal, and must be given.
        memory_allowed: where the target may look in the memory (padding).
        attention: how the heads attend to the target.
        cross: how the heads attend to the memory.
        design: as in :func:`encoder_block`.

    Raises:
        ValueError: if the weights have no cross-attention.
    """
    heads, cross_norm = weights.cross, weights.cross_norm
    if heads is None or cross_norm is None:
        raise ValueError("these weights have no cross-attention; BlockWeights.random(..., d_memory=...) makes some")
    first = attention_sublayer(x, weights, allowed, attention, design)
    second = design.sublayer(
        first.output,
        lambda u: cross(u, memory, heads, allowed=memory_allowed),
        cross_norm,
        weights.cross_out_norm,
    )
    third = feed_forward_sublayer(second.output, weights, design)
    return BlockTrace(
        weights=weights,
        design=design,
        attention_sublayer=first,
        cross_sublayer=second,
        feed_forward_sublayer=third,
    )
