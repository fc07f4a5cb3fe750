"""Sizes of an attention layer: a few validated integers."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["MHA", "GQA", "MQA"]


class OddWidthError(ValueError):
    """Dimensions that cannot be paired."""

    def __init__(self, width: int) -> None:
        super().__init__(f"width={width} is not an even number from 2 up: a sine and its cosine need two dimensions")
        self.width = width


@dataclass(frozen=True, kw_only=True)
class AttentionSpec:
    """The sizes of one multi-head attention layer.

    A size left out takes its default: G = H, d_k = d_model / H, d_v = d_k, d_mem = d_out = d_model.

    Raises:
        ValueError: if a size is below 1, or H is not a multiple of G, or d_head is left out and
            d_model is not a multiple of H.

    Example:
        >>> AttentionSpec(d_model=512, n_heads=8, n_kv_heads=2).kind
        'GQA'
    """

    d_model: int
    n_heads: int
    n_kv_heads: int | None = None
    d_head: int | None = None
    d_value: int | None = None
    d_memory: int | None = None
    d_output: int | None = None

    def __post_init__(self) -> None:
        for name, size in vars(self).items():
            if size is not None and size < 1:
                raise ValueError(f"{name}={size} must be at least 1")
        if self.n_heads % self.G:
            raise ValueError(f"n_heads={self.n_heads} is not a multiple of n_kv_heads={self.G}")
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(f"d_model={self.d_model} is not a multiple of n_heads={self.n_heads}")

    @property
    def H(self) -> int:
        """Query heads."""
        return self.n_heads

    @property
    def G(self) -> int:
        """Key/value heads."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def d_k(self) -> int:
        """Width of a query or key head."""
        return self.d_model // self.n_heads if self.d_head is None else self.d_head

    @property
    def d_v(self) -> int:
        """Width of a value head."""
        return self.d_k if self.d_value is None else self.d_value

    @property
    def d_mem(self) -> int:
        """Width of the tokens that answer."""
        return self.d_model if self.d_memory is None else self.d_memory

    @property
    def d_out(self) -> int:
        """Width of the output."""
        return self.d_model if self.d_output is None else self.d_output

    @property
    def kind(self) -> Kind:
        """MHA when every query head has its own keys and values, MQA when all share one, GQA between.

        A single head is MHA: there is nothing to share.
        """
        if self.G == self.H:
            return "MHA"
        return "MQA" if self.G == 1 else "GQA"
