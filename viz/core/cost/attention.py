"""Cost of one attention layer: parameters, multiply-adds, memory. Plain integers, exact at any size."""

from collections.abc import Callable
from dataclasses import dataclass

from viz.core.spec import AttentionSpec

FLOPS_PER_MULTIPLY_ADD = 2
STREAMING_BLOCK = 128
"""Side of the tile of scores that :func:`streaming_numbers` keeps; FlashAttention's own tiles are of this order."""


FAR = 2**62
"""Beyond any length of text."""


class Parts:
    """Named integers that add up: every field is one part."""

    def parts(self) -> dict[str, int]:
        """Name -> amount, in the order of computation."""
        return dict(vars(self))

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(vars(self).values())


@dataclass(frozen=True, kw_only=True)
class AttentionParameters(Parts):
    """Numbers learned: the four matrices, and their biases if there are any."""

    w_q: int
    w_k: int
    w_v: int
    w_o: int
    biases: int


@dataclass(frozen=True, kw_only=True)
class AttentionFlops(Parts):
    """Floating-point operations: three projections, QKᵀ, AV and the output projection."""

    q: int
    k: int
    v: int
    scores: int
    mixing: int
    output: int

    @property
    def multiply_adds(self) -> int:
        """Half the FLOPs."""
        return self.total // FLOPS_PER_MULTIPLY_ADD


def at_least_one(**sizes: int) -> None:
    """Refuse a size below 1, by its name.

    Raises:
        ValueError: "n=0 must be at least 1".
    """
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name}={size} must be at least 1")


def shortest(enough: Callable[[int], bool]) -> int | None:
    """Find the smallest whole number that is enough, where every larger one is too; None if none below 2**62 is.

    Example:
        >>> shortest(lambda n: n * n >= 50)
        8
    """
    low, high = 0, 1
    while not enough(high):
        low, high = high, high * 2
        if high > FAR:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def parameters(spec: AttentionSpec, *, bias: bool = False) -> AttentionParameters:
    r"""Count the numbers an attention layer learns.

    .. math:: d_{model} H d_k + d_{mem} G (d_k + d_v) + H d_v d_{out}

    With d_k = d_v = d_model / H this is :math:`2 d^2 + 2 d\, G d_k`: fewer key/value heads, fewer parameters, but the
    number of query heads does not enter.

    Args:
        spec: sizes of the layer.
        bias: count one number more for each column of each matrix.

    Example:
        >>> parameters(AttentionSpec(d_model=512, n_heads=8)).total
        1048576
    """
    s = spec
    biases = s.H * s.d_k + s.G * (s.d_k + s.d_v) + s.d_out
    return AttentionParameters(
        w_q=s.d_model * s.H * s.d_k,
        w_k=s.d_mem * s.G * s.d_k,
        w_v=s.d_mem * s.G * s.d_v,
        w_o=s.H * s.d_v * s.d_out,
        biases=biases if bias else 0,
    )


def attention_flops(spec: AttentionSpec, *, n_queries: int, n_keys: int, n_pairs: int | None = None) -> AttentionFlops:
    r"""Count the operations of one attention layer; a multiply-add is 2.

    .. math:: 2 \left( 4 n d^2 + 2 n^2 d \right) \quad \text{for } n \text{ tokens and } d_k = d_v = d / H

    Counted: what is multiplied and added up. Not counted: biases, the scaling and the softmax
    (:func:`softmax_exponentials`), as in ``torch.utils.flop_counter``. H drops out: heads are narrower as they become
    more.

    Args:
        spec: sizes of the layer.
        n_queries: tokens that ask.
        n_keys: tokens that answer.
        n_pairs: (query, key) pairs that are computed; None means all. A mask saves work only where a kernel skips what
            it forbids.

    Raises:
        ValueError: if a number of tokens is below 1.

    Example:
        >>> attention_flops(AttentionSpec(d_model=512, n_heads=8), n_queries=10, n_keys=10).total
        21176320
    """
    at_least_one(n_queries=n_queries, n_keys=n_keys)
    s, two = spec, FLOPS_PER_MULTIPLY_ADD
    pairs = n_queries * n_keys if n_pairs is None else n_pairs
    return AttentionFlops(
        q=two * n_queries * s.d_model * s.H * s.d_k,
        k=two * n_keys * s.d_mem * s.G * s.d_k,
        v=two * n_keys * s.d_mem * s.G * s.d_v,
        scores=two * pairs * s.H * s.d_k,
        mixing=two * pairs * s.H * s.d_v,
        output=two * n_queries * s.H * s.d_v * s.d_out,
    )


def softmax_exponentials(spec: AttentionSpec, *, n_queries: int, n_keys: int) -> int:
    """Count the exponentials: one for each head and pair. This, and the weights kept, is what grows with H.

    Example:
        >>> softmax_exponentials(AttentionSpec(d_model=512, n_heads=8), n_queries=10, n_keys=10)
        800
    """
    at_least_one(n_queries=n_queries, n_keys=n_keys)
    return spec.H * n_queries * n_keys


def streaming_numbers(spec: AttentionSpec, *, n_queries: int, n_keys: int) -> int:
    r"""Count the numbers a streaming softmax keeps in place of the :math:`H n^2` weights.

    .. math:: H (2 n + b^2)

    Every row's largest score so far and the sum of its exponentials, and one tile of b x b scores. Milakov and
    Gimelshein 2018; Dao et al. 2022. Exact, not an approximation: rows are rescaled as larger scores come.

    Example:
        >>> streaming_numbers(AttentionSpec(d_model=512, n_heads=8), n_queries=1024, n_keys=1024)
        147456
    """
    at_least_one(n_queries=n_queries, n_keys=n_keys)
    return spec.H * (2 * n_queries + min(STREAMING_BLOCK, n_queries) * min(STREAMING_BLOCK, n_keys))


def kv_cache_bytes(
    spec: AttentionSpec, *, n_tokens: int, n_layers: int, batch: int = 1, bytes_per_value: int = 2
) -> int:
    r"""Count the bytes of the keys and values a decoder keeps, so that no word is projected twice.

    .. math:: B\, n\, L\, G\, (d_k + d_v) \cdot \text{bytes per value}

    Only G enters, not H: the reason for sharing keys and values (Shazeer 2019; Ainslie et al. 2023).

    Args:
        spec: sizes of one layer.
        n_tokens: tokens so far.
        n_layers: layers, each with its own cache.
        batch: texts at once.
        bytes_per_value: 2 for float16 and bfloat16.

    Raises:
        ValueError: if a size is below 1.

    Example:
        >>> spec = AttentionSpec(d_model=4096, n_heads=32, n_kv_heads=8)
        >>> kv_cache_bytes(spec, n_tokens=8192, n_layers=32) == 2**30
        True
    """
    at_least_one(n_tokens=n_tokens, n_layers=n_layers, batch=batch, bytes_per_value=bytes_per_value)
    return batch * n_tokens * n_layers * spec.G * (spec.d_k + spec.d_v) * bytes_per_value
