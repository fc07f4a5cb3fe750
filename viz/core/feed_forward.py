"""The feed-forward network of a block: every token by itself, through a wider layer and back."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.heads import project

Activation = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class FeedForwardWeights:
    """W_1 ``w_in`` (d_model, d_ff), W_2 ``w_out`` (d_ff, d_model), their biases, and W_g ``w_gate``, if any.

    Raises:
        ValueError: if the shapes do not fit each other.
    """

    w_in: Tensor
    w_out: Tensor
    b_in: Tensor | None = None
    b_out: Tensor | None = None
    w_gate: Tensor | None = None
    b_gate: Tensor | None = None

    def __post_init__(self) -> None:
        d_model, d_ff = self.w_in.shape
        shapes = {"w_out": (d_ff, d_model), "b_in": (d_ff,), "b_out": (d_model,)}
        shapes |= {"w_gate": (d_model, d_ff), "b_gate": (d_ff,)}
        for name, shape in shapes.items():
            tensor = getattr(self, name)
            if tensor is not None and tuple(tensor.shape) != shape:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}, beside w_in it must be {shape}")

    @classmethod
    def random(cls, d_model: int, d_ff: int, *, seed: int) -> "FeedForwardWeights":
        r"""Draw both matrices :math:`\mathcal N(0, 1/\text{rows})`; no gate, no biases."""
        generator = torch.Generator().manual_seed(seed)
        return cls(
            w_in=torch.randn(d_model, d_ff, generator=generator) / d_model**0.5,
            w_out=torch.randn(d_ff, d_model, generator=generator) / d_ff**0.5,
        )

    def n_parameters(self) -> int:
        """Numbers learned, counted from the tensors themselves."""
        return sum(map(Tensor.numel, self.active_tensors))

    @property
    def active_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that one token is computed with: all of them."""
        return tuple(value for value in vars(self).values() if isinstance(value, Tensor))

    @property
    def d_ff(self) -> int:
        """Width of the hidden layer."""
        return int(self.w_in.shape[1])


@dataclass(frozen=True, kw_only=True)
class FeedForwardTrace:
    """Every step, in order: ``hidden`` and ``active`` are (T, d_ff), ``output`` is (T, d_model).

    ``gate`` is what a gated network's W_g makes of the tokens, before the activation; None without one.
    """

    hidden: Tensor
    gate: Tensor | None
    active: Tensor
    output: Tensor


def feed_forward(
    x: Float[Tensor, "*B T d_model"], weights: FeedForwardWeights, *, activation: Activation = torch.relu
) -> FeedForwardTrace:
    r"""Send every token through a wider layer and back; no token sees another one.

    .. math:: \operatorname{FF}(x) = \varphi(x W_1 + b_1)\, W_2 + b_2, \quad
              \text{gated: } \big(\varphi(x W_g + b_g) \odot (x W_1 + b_1)\big)\, W_2 + b_2

    Vaswani et al. 2017, eq. 2, with ReLU; the gate is Shazeer 2020, eq. 6 (SwiGLU, in Llama).

    Example:
        >>> weights = FeedForwardWeights(w_in=torch.tensor([[1.0, -1.0]]), w_out=torch.tensor([[1.0], [1.0]]))
        >>> feed_forward(torch.tensor([[-3.0]]), weights).output
        tensor([[3.]])
    """
    hidden = project(x, weights.w_in, weights.b_in)
    gate = None if weights.w_gate is None else project(x, weights.w_gate, weights.b_gate)
    active = activation(hidden) if gate is None else activation(gate) * hidden
    return FeedForwardTrace(
        hidden=hidden, gate=gate, active=active, output=project(active, weights.w_out, weights.b_out)
    )
