"""Mixes of layers counted another way: by the shapes of tensors and by torch's counter, layer by layer."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from viz import limits
from viz.core.cost.counting import FlopCounterMode

BETWEEN = {"five": 5, "three": 3, "one": 1, "full": 0}
"""Layers of the other kind between two full ones; where there are no full ones, it is not listed."""

Shapes = list[tuple[int, ...]]


def layer_kinds(pattern: str, kind: str, n_layers: int) -> list[str]:
    """Name the kind of every layer, the lowest first.

    Example:
        >>> layer_kinds("one", "window", 3), layer_kinds("none", "linear", 2)
        (['window', 'full', 'window'], ['linear', 'linear'])
    """
    kinds: list[str] = []
    since_full = 0
    for _ in range(n_layers):
        is_full = since_full == BETWEEN.get(pattern, n_layers)
        kinds.append("full" if is_full else kind)
        since_full = 0 if is_full else since_full + 1
    return kinds


def nbytes(shapes: Shapes) -> int:
    """Return the bytes of tensors of these shapes, two for each number."""
    return sum(torch.empty(shape, dtype=torch.bfloat16, device="meta").nbytes for shape in shapes)


def cache_shapes(kind: str, d: int, h: int, size: int, n: int) -> Shapes:
    """Return the shapes of what a layer keeps after n tokens."""
    d_k = d // h
    tokens = min(n, size) if kind == "window" else n
    keys_and_values: Shapes = [(h, tokens, d_k), (h, tokens, d_k)]
    if kind == "linear":
        return [(h, d_k, d_k)]
    if kind == "latent":
        return [(n, 4 * d_k), (n, d_k // 2)]
    return [*keys_and_values, (n, d_k)] if kind == "select" else keys_and_values


def _numbers(*shape: int) -> Tensor:
    return torch.empty(shape, dtype=torch.bfloat16, device="meta")


def _attend(h: int, n: int, d_k: int) -> None:
    """Multiply one query of each head with all keys, and its weights with all values."""
    _numbers(h, 1, d_k) @ _numbers(h, d_k, n) @ _numbers(h, n, d_k)


def _run_step(kind: str, d: int, h: int, size: int, n: int) -> None:
    """Multiply what the n-th token of a text multiplies in a layer, without numbers."""
    d_k, g = d // h, max(1, h // 2)
    if kind == "linear":
        _numbers(h, d_k, 1) @ _numbers(h, 1, d_k)  # the state is written
        for _ in range(2):  # and read, by the key and by the query
            _numbers(h, 1, d_k) @ _numbers(h, d_k, d_k)
    elif kind == "latent":
        c, r = 4 * d_k, d_k // 2
        _numbers(h, 1, d_k) @ _numbers(h, d_k, c)
        _numbers(h, 1, c + r) @ _numbers(c + r, n).expand(h, -1, -1)
        _numbers(h, 1, n) @ _numbers(n, c).expand(h, -1, -1)
        _numbers(h, 1, c) @ _numbers(h, c, d_k)
    elif kind == "select":
        _numbers(1, g) @ (_numbers(g, d_k) @ _numbers(d_k, n))
        _attend(h, min(n, size), d_k)
    else:
        _attend(h, min(n, size) if kind == "window" else n, d_k)


@lru_cache(limits.COUNTS_KEPT)
def layer_flops(kind: str, d: int, h: int, size: int, n: int) -> int:
    """Return the operations of the n-th token in a layer by torch's counter."""
    with FlopCounterMode(display=False) as counter:
        _run_step(kind, d, h, size, n)
    return counter.get_total_flops()


def stack_cost(measure: str, kinds: Sequence[str], d: int, h: int, size: int, n: int) -> int:
    """Add up the operations of the n-th token ("flops") or the bytes after it ("cache"), layer by layer."""
    if measure == "flops":
        return sum(layer_flops(kind, d, h, size, n) for kind in kinds)
    return sum(nbytes(cache_shapes(kind, d, h, size, n)) for kind in kinds)
