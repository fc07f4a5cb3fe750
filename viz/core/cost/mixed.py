"""Stacks of unlike layers: what full, windowed, linear, latent and selecting layers keep in a cache, and compute.

Counted is what depends on the length of the text: pairs of tokens, and what a state or a latent vector takes in their
place. The projections W_Q, W_K, W_V and W_O are those of :func:`~viz.core.cost.attention.attention_flops`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD, at_least_one, shortest
from viz.core.spec import AttentionSpec
from viz.core.variants.today.interleaved import full_layers
from viz.core.variants.today.latent import LatentSpec


class LayerCost(ABC):
    """Cost of one layer of any kind."""

    @abstractmethod
    def cache_numbers(self, n: int) -> int:
        """Count the numbers kept after n tokens."""

    @abstractmethod
    def step_flops(self, n: int) -> int:
        """Count the operations of the n-th token of a text when it is written: it asks all so far, itself included."""

    def text_flops(self, n: int) -> int:
        """Count the operations of a text of n tokens read at once; every pair, also those a causal mask forbids."""
        return n * self.step_flops(n)


@dataclass(frozen=True, kw_only=True)
class FullCost(LayerCost):
    r"""Every token asks all: :math:`n G (d_k + d_v)` numbers, :math:`2 n H (d_k + d_v)` operations a step.

    Example:
        >>> layer = FullCost(spec=AttentionSpec(d_model=12, n_heads=6, n_kv_heads=2))
        >>> layer.cache_numbers(10), layer.step_flops(10), layer.text_flops(10)
        (80, 480, 4800)
    """

    spec: AttentionSpec

    def cache_numbers(self, n: int) -> int:
        """Count the keys and values of all tokens."""
        return n * self.spec.G * (self.spec.d_k + self.spec.d_v)

    def step_flops(self, n: int) -> int:
        """Count a score and a value for each head and key."""
        return FLOPS_PER_MULTIPLY_ADD * n * self.spec.H * (self.spec.d_k + self.spec.d_v)


@dataclass(frozen=True, kw_only=True)
class WindowCost(LayerCost):
    """As full, for the last ``size`` tokens: from there on nothing grows. Chunks of ``size`` cost no more.

    Example:
        >>> layer = WindowCost(spec=AttentionSpec(d_model=12, n_heads=6, n_kv_heads=2), size=7)
        >>> layer.cache_numbers(5), layer.cache_numbers(10), layer.text_flops(10)
        (40, 56, 3360)
    """

    spec: AttentionSpec
    size: int

    def __post_init__(self) -> None:
        at_least_one(size=self.size)

    def cache_numbers(self, n: int) -> int:
        """Count the keys and values of the window."""
        return FullCost(spec=self.spec).cache_numbers(min(n, self.size))

    def step_flops(self, n: int) -> int:
        """Count a score and a value for each head and key of the window."""
        return FullCost(spec=self.spec).step_flops(min(n, self.size))


@dataclass(frozen=True, kw_only=True)
class LinearCost(LayerCost):
    r"""A state a head, :math:`H d_k d_v` numbers at any length; a step writes it and reads it.

    With ``corrects`` (the delta rule) it is read once more, for what the key brings up: 6 in place of 4 times
    :math:`H d_k d_v` operations. Not counted: the fading, the system that chunks of a text solve, and the few tokens
    that a convolution before it keeps.

    Example:
        >>> layer = LinearCost(n_heads=3, d_k=5, d_v=7, corrects=True)
        >>> layer.cache_numbers(10), layer.cache_numbers(10_000), layer.step_flops(10)
        (105, 105, 630)
    """

    n_heads: int
    d_k: int
    d_v: int
    corrects: bool = False

    def __post_init__(self) -> None:
        at_least_one(n_heads=self.n_heads, d_k=self.d_k, d_v=self.d_v)

    def cache_numbers(self, n: int) -> int:
        """Count the numbers of the states."""
        return self.n_heads * self.d_k * self.d_v

    def step_flops(self, n: int) -> int:
        """Count one write and one read of every state, or two reads."""
        return FLOPS_PER_MULTIPLY_ADD * (3 if self.corrects else 2) * self.cache_numbers(n)


@dataclass(frozen=True, kw_only=True)
class LatentCost(LayerCost):
    r"""A latent vector and a key with RoPE a token: :math:`n (c + d_r)` numbers.

    .. math:: 2H\big(d_n c + n (c + d_r) + n c + c\, d_v\big) \text{ a step, absorbed}, \qquad
              2 n H\big(c (d_n + d_v) + n (d_n + d_r + d_v)\big) \text{ a text, plain}

    DeepSeek-AI 2024 (2405.04434), with a latent vector of c numbers.

    Example:
        DeepSeek-V3: 576 numbers a token and layer, 70,272 bytes a token in 61 layers of bfloat16.

        >>> layer = LatentCost(
        ...     spec=LatentSpec(d_model=7168, n_heads=128, d_latent=512, d_nope=128, d_rope=64, d_value=128)
        ... )
        >>> layer.cache_numbers(1), cache_bytes([layer] * 61, n_tokens=1)
        (576, 70272)
    """

    spec: LatentSpec

    def cache_numbers(self, n: int) -> int:
        """Count the latent vectors and their keys with RoPE."""
        return n * self.spec.cache_width

    def step_flops(self, n: int) -> int:
        """Count the absorbed form: W_UK and W_UV are applied to one query, not to n tokens."""
        s = self.spec
        pairs = n * (s.cache_width + s.d_latent)
        return FLOPS_PER_MULTIPLY_ADD * s.n_heads * (s.d_latent * (s.d_nope + s.d_value) + pairs)

    def text_flops(self, n: int) -> int:
        """Count the plain form: keys and values are expanded once for each token, and pairs are narrower."""
        s = self.spec
        expand, pair = s.d_latent * (s.d_nope + s.d_value), s.d_nope + s.d_rope + s.d_value
        return FLOPS_PER_MULTIPLY_ADD * n * s.n_heads * (expand + n * pair)


@dataclass(frozen=True, kw_only=True)
class TopKCost(LayerCost):
    r"""A layer that attends to the ``top_k`` keys a small scorer chooses; the scorer looks at all of them.

    .. math:: 2 n I (d_I + 1) + \text{a step of the layer with } \min(n, \text{kept}) \text{ keys}

    DeepSeek-V3.2: I = 64 heads of 128 numbers, one key for all of them, which is cached too; 2,048 keys are kept.

    Example:
        >>> full = FullCost(spec=AttentionSpec(d_model=12, n_heads=6, n_kv_heads=2))
        >>> layer = TopKCost(layer=full, top_k=4, n_heads=3, d_head=5)
        >>> layer.cache_numbers(10), layer.step_flops(10) == 2 * 10 * 3 * 6 + full.step_flops(4)
        (130, True)
    """

    layer: LayerCost
    top_k: int
    n_heads: int
    d_head: int

    def __post_init__(self) -> None:
        at_least_one(top_k=self.top_k, n_heads=self.n_heads, d_head=self.d_head)

    def cache_numbers(self, n: int) -> int:
        """Count what the layer keeps, nothing of which is dropped, and the scorer's keys."""
        return self.layer.cache_numbers(n) + n * self.d_head

    def step_flops(self, n: int) -> int:
        """Count the scorer's products with all keys, and the layer's with those that are kept."""
        scorer = FLOPS_PER_MULTIPLY_ADD * n * self.n_heads * (self.d_head + 1)
        return scorer + self.layer.step_flops(min(n, self.top_k))


@dataclass(frozen=True, kw_only=True)
class SharedKVCost(LayerCost):
    """A layer that reads the keys and values of an earlier one: it keeps nothing, and computes as much.

    Example:
        >>> layer = SharedKVCost(layer=FullCost(spec=AttentionSpec(d_model=12, n_heads=6, n_kv_heads=2)))
        >>> layer.cache_numbers(10), layer.step_flops(10)
        (0, 480)
    """

    layer: LayerCost

    def cache_numbers(self, n: int) -> int:
        """Nothing is kept twice."""
        return 0

    def step_flops(self, n: int) -> int:
        """Count what the layer would with keys and values it made."""
        return self.layer.step_flops(n)

    def text_flops(self, n: int) -> int:
        """Likewise."""
        return self.layer.text_flops(n)


def interleave(full: LayerCost, rest: LayerCost, *, n_layers: int, period: int) -> list[LayerCost]:
    """Stack layers of two kinds, the last of each ``period`` full; with a period of 0 none is.

    Example:
        >>> spec = AttentionSpec(d_model=12, n_heads=6)
        >>> layers = interleave(FullCost(spec=spec), WindowCost(spec=spec, size=2), n_layers=5, period=2)
        >>> [layer.cache_numbers(4) for layer in layers]
        [48, 96, 48, 96, 48]
    """
    return [full if is_full else rest for is_full in full_layers(n_layers, period=period)]


def cache_bytes(layers: Sequence[LayerCost], *, n_tokens: int, bytes_per_value: int = 2) -> int:
    """Count the bytes a stack keeps after so many tokens.

    Args:
        layers: of any kinds, in any order.
        n_tokens: tokens so far.
        bytes_per_value: 2 for float16 and bfloat16. States are often kept in float32: count such layers by themselves.

    Raises:
        ValueError: if a number is below 1.

    Example:
        Five windows of 1,024 to a full layer, as in Gemma 3: at 131,072 tokens 17 % of what full layers keep.

        >>> spec = AttentionSpec(d_model=3840, n_heads=16, n_kv_heads=8, d_head=256)
        >>> full, near = FullCost(spec=spec), WindowCost(spec=spec, size=1024)
        >>> stack = [near, near, near, near, near, full]
        >>> round(cache_bytes(stack, n_tokens=131072) / cache_bytes([full] * 6, n_tokens=131072), 3)
        0.173
    """
    at_least_one(n_tokens=n_tokens, bytes_per_value=bytes_per_value)
    return bytes_per_value * sum(layer.cache_numbers(n_tokens) for layer in layers)


def step_flops(layers: Sequence[LayerCost], *, n_tokens: int) -> int:
    """Count the operations of the token number ``n_tokens`` in a stack, projections left out.

    Raises:
        ValueError: if ``n_tokens`` is below 1.
    """
    at_least_one(n_tokens=n_tokens)
    return sum(layer.step_flops(n_tokens) for layer in layers)


def text_flops(layers: Sequence[LayerCost], *, n_tokens: int) -> int:
    """Count the operations of a whole text read at once in a stack, projections left out.

    Raises:
        ValueError: if ``n_tokens`` is below 1.
    """
    at_least_one(n_tokens=n_tokens)
    return sum(layer.text_flops(n_tokens) for layer in layers)


def cheaper_from(cost: Callable[[int], int], reference: Callable[[int], int]) -> int | None:
    """Return the shortest text from which ``cost`` is below ``other``; None if it never is.

    ``other`` must grow at least as fast.

    Example:
        A state of d x d numbers is smaller than keys and values of width d from d / 2 + 1 tokens on.

        >>> full = FullCost(spec=AttentionSpec(d_model=64, n_heads=1))
        >>> cheaper_from(LinearCost(n_heads=1, d_k=64, d_v=64).cache_numbers, full.cache_numbers)
        33
    """
    return shortest(lambda n: cost(n) < reference(n))
