"""Masks: bool, True where a query may look, everywhere in Headlight.

``F.scaled_dot_product_attention`` reads them the same way, ``nn.MultiheadAttention`` the opposite way.
When queries and keys differ in number, the last query stands beside the last key, as when decoding
with a cache: query i sits at key position i + n_keys - n_queries.
"""

from functools import reduce

import torch
from jaxtyping import Bool
from torch import Tensor


def _offsets(n_queries: int, n_keys: int) -> Tensor:
    """Key position minus query position, for every pair."""
    for name, n in (("n_queries", n_queries), ("n_keys", n_keys)):
        if n < 1:
            raise ValueError(f"{name}={n} must be at least 1")
    return torch.arange(n_keys) - (torch.arange(n_queries)[:, None] + n_keys - n_queries)


def causal(n_queries: int, n_keys: int) -> Bool[Tensor, "Q K"]:
    """Nobody looks at a later token: key position <= query position.

    With more queries than keys, the first queries stand before the first key and may look nowhere.

    Example:
        >>> causal(2, 3)
        tensor([[ True,  True, False],
                [ True,  True,  True]])
    """
    return _offsets(n_queries, n_keys) <= 0


def padding(lengths: list[int], n_keys: int) -> Bool[Tensor, "B 1 1 K"]:
    """Nobody looks at padding: in sequence b only the first ``lengths[b]`` keys are real.

    The axes for heads and queries are there already: a (B, K) mask would act on the wrong ones.

    Raises:
        ValueError: if a length is not between 0 and ``n_keys``.

    Example:
        >>> padding([1, 2], 2).tolist()
        [[[[True, False]]], [[[True, True]]]]
    """
    for length in lengths:
        if not 0 <= length <= n_keys:
            raise ValueError(f"length={length} is not between 0 and n_keys={n_keys}")
    return (torch.arange(n_keys) < torch.tensor(lengths)[:, None])[:, None, None, :]


def window(n_queries: int, n_keys: int, width: int) -> Bool[Tensor, "Q K"]:
    """Everybody looks at neighbours only: at most ``width`` positions away, on both sides.

    Raises:
        ValueError: if ``width`` is negative.

    Example:
        >>> window(3, 3, 1).int()
        tensor([[1, 1, 0],
                [1, 1, 1],
                [0, 1, 1]], dtype=torch.int32)
    """
    if width < 0:
        raise ValueError(f"width={width} must be at least 0")
    return _offsets(n_queries, n_keys).abs() <= width


def look_back(n_queries: int, n_keys: int, size: int) -> Bool[Tensor, "Q K"]:
    r"""The sliding window of decoders: the query's own token and those before it, ``size`` in all.

    .. math:: 0 \le i - j < w

    Beltagy et al. 2020; Mistral, Gemma 2 and gpt-oss count the query's own token too. With ``size >= n_keys`` it is
    :func:`causal`.

    Raises:
        ValueError: if ``size`` is below 1.

    Example:
        >>> look_back(3, 3, 2).int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [0, 1, 1]], dtype=torch.int32)
    """
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    return window(n_queries, n_keys, size - 1) & causal(n_queries, n_keys)


def _blocks_ahead(n_queries: int, n_keys: int, size: int) -> Tensor:
    """The key's block of ``size`` tokens minus the query's, for every pair; blocks are counted from the first key."""
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    key = torch.arange(n_keys)
    return key // size - (key - _offsets(n_queries, n_keys)) // size


def chunks(n_queries: int, n_keys: int, size: int) -> Bool[Tensor, "Q K"]:
    r"""Causal inside blocks of ``size`` tokens, closed between them: the first token of a block sees itself alone.

    .. math:: \lfloor i / w \rfloor = \lfloor j / w \rfloor \;\text{ and }\; j \le i

    Llama 4 (8,192 tokens). Blocks are counted from the first key. With ``size >= n_keys`` it is :func:`causal`.

    Raises:
        ValueError: if ``size`` is below 1.

    Example:
        >>> chunks(3, 3, 2).int()
        tensor([[1, 0, 0],
                [1, 1, 0],
                [0, 0, 1]], dtype=torch.int32)
    """
    return (_blocks_ahead(n_queries, n_keys, size) == 0) & causal(n_queries, n_keys)


def blocks(n_queries: int, n_keys: int, size: int) -> Bool[Tensor, "Q K"]:
    r"""Block diffusion: a token looks at its own block of ``size`` tokens, later ones too, and at all blocks before.

    .. math:: \lfloor j / w \rfloor \le \lfloor i / w \rfloor

    Arriola et al. 2025; LLaDA2 and SDAR write one block after another. With ``size=1`` it is :func:`causal`, with
    ``size >= n_keys`` all is open.

    Example:
        >>> blocks(3, 3, 2).int()
        tensor([[1, 1, 0],
                [1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)
    """
    return _blocks_ahead(n_queries, n_keys, size) <= 0


def dilated(n_queries: int, n_keys: int, width: int, step: int) -> Bool[Tensor, "Q K"]:
    """A window with gaps: every ``step``-th position, up to ``width`` of them on each side, and the query's own.

    Beltagy et al. 2020 (Longformer), fig. 2c; their window counts both sides, ``2 * width``, and their dilation is
    ``step``. It reaches ``width * step`` tokens for the price of ``width``; with ``step=1`` it is :func:`window`.

    Raises:
        ValueError: if ``width`` is negative or ``step`` is below 1.

    Example:
        >>> dilated(3, 3, 1, 2).int()
        tensor([[1, 0, 1],
                [0, 1, 0],
                [1, 0, 1]], dtype=torch.int32)
    """
    if step < 1:
        raise ValueError(f"step={step} must be at least 1")
    return window(n_queries, n_keys, width * step) & (_offsets(n_queries, n_keys) % step == 0)


def prefix(n_queries: int, n_keys: int, n_prefix: int) -> Bool[Tensor, "Q K"]:
    """The first ``n_prefix`` keys are open to everybody, the rest is causal (Raffel et al. 2020, sec. 3.2.1).

    Raises:
        ValueError: if ``n_prefix`` is not between 0 and ``n_keys``.

    Example:
        >>> prefix(3, 3, 2).int()
        tensor([[1, 1, 0],
                [1, 1, 0],
                [1, 1, 1]], dtype=torch.int32)
    """
    if not 0 <= n_prefix <= n_keys:
        raise ValueError(f"n_prefix={n_prefix} is not between 0 and n_keys={n_keys}")
    return causal(n_queries, n_keys) | (torch.arange(n_keys) < n_prefix)


def combine(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Allowed only where every mask allows it. None allows everything; of nothing but None, None.

    Example:
        >>> combine(None, causal(2, 2), window(2, 2, 0)).int()
        tensor([[1, 0],
                [0, 1]], dtype=torch.int32)
    """
    present = [mask for mask in masks if mask is not None]
    return reduce(torch.logical_and, present) if present else None
