"""Data of the head grid without an app behind it, in a notebook or a file: every head, exact, compressed.

Weights are the codes that the app sends for its wall, 16 bits each (:func:`viz.components.head_grid.weight_codes`): two
bytes say the same here and there. For another temperature a small weight's code is too coarse, so its logarithm is sent
as well, in one byte: then two decimals are right. ``client/take_away/decode.js`` takes it apart again.
"""

import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from viz.components.head_grid import Axis, largest_of_blocks, pool_of, score_codes, weight_codes
from viz.figures.palette import BLUE, HEADS, ORANGE

SMALL = 16
"""Codes below this one have a byte of their own: a temperature of 10 makes much of them."""

FARTHEST = -120.0
"""Lower limit of their scale: at T = 10 what is below gets 6e-6 of what the largest weight gets."""

LEVELS, ZERO, MASKED = 253, 254, 255
"""Values of that byte: 0 to 253 between the ends of the scale, or a weight of 0, or a cell that is masked."""


@dataclass(frozen=True, kw_only=True)
class Heads:
    """The heads of one layer, (H, Q, K), rows = queries.

    ``logarithms`` are those of the weights where they are known better than from the weights; ``masked`` (Q, K) is True
    where a query may not look; ``shown`` are the maps as they are shown, if that is not the weights of every token;
    ``measures`` are numbers by which heads can be ordered.
    """

    weights: Tensor
    measures: Mapping[str, Tensor]
    masked: Tensor | None = None
    logarithms: Tensor | None = None
    shown: Tensor | None = None


@dataclass(frozen=True, kw_only=True)
class Stack:
    """The heads of an encoder, a decoder or what is between them, and the tokens they look from and at.

    ``name`` is "self", "encoder", "decoder" or "cross", ``what`` is "weights" or "scores"; where tokens are hidden
    rows of weights sum to 1 again if ``renormalise``. ``numbers`` are those of the layers in the model; without them
    layers count from 0.
    """

    name: str
    layers: Iterable[Heads]
    n_layers: int
    queries: Axis
    keys: Axis
    same: bool = True
    what: str = "weights"
    renormalise: bool = False
    numbers: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True)
class PooledStack(Stack):
    """A stack of so many maps that the small ones go to the browser first, and a large one when it is opened.

    ``small`` are each layer's maps as the largest weight of every ``pool`` x ``pool`` block, (H, rows, columns),
    ``measures`` those of its heads. ``open(layer, head)`` gives one head, where the layer is counted as it stands, and
    ``open_layer(layer)`` the weights of all of its heads, (H, Q, K). ``exact`` are heads that go along, counted over
    all layers.
    """

    n_heads: int
    pool: int
    small: Sequence[Tensor]
    measures: Sequence[Mapping[str, Tensor]]
    open: Callable[[int, int], Heads]
    open_layer: Callable[[int], Tensor]
    exact: Sequence[int] = ()


def planes(codes: Tensor) -> bytes:
    """Numbers of 16 bits as all their high bytes, then all low ones: the high ones repeat, and compress well."""
    numbers = codes.flatten().int()
    return bytes((numbers >> 8).to(torch.uint8).numpy()) + bytes((numbers & 255).to(torch.uint8).numpy())


def small_weights(codes: Tensor, logarithms: Tensor, masked: Tensor | None) -> tuple[bytes, float, float]:
    """A byte for each weight with a small code, and the ends of their scale of logarithms."""
    small = codes.int() < SMALL
    logs = logarithms[small].double()
    logs = logs.clamp(min=FARTHEST).where(~logs.isneginf(), -torch.inf)
    zero, finite = logs.isneginf(), logs.isfinite()
    low = float(logs[finite].min()) if finite.any() else 0.0
    high = max(float(logs[finite].max()), low) if finite.any() else 0.0
    share = (logs.where(finite, low) - low) / max(high - low, 1e-30)
    levels = (share * LEVELS).round().where(~zero, ZERO)
    if masked is not None:
        levels = levels.where(~masked[small], MASKED)
    return bytes(levels.to(torch.uint8).numpy()), low, high


def payload(stacks: Sequence[Stack]) -> bytes:
    """Everything the grid needs to show these heads but words and choices: a header (JSON), then compressed parts."""
    body = bytearray()

    def put(raw: bytes) -> list[int]:
        packed = zlib.compress(raw)
        body.extend(packed)
        return [len(body) - len(packed), len(packed)]

    parts = [_pooled(stack, put) if isinstance(stack, PooledStack) else _stack(stack, put) for stack in stacks]
    colours = {"positive": BLUE, "negative": ORANGE, "heads": HEADS}
    header = json.dumps({"stacks": parts, "colours": colours}, allow_nan=False).encode()
    return len(header).to_bytes(4, "little") + header + bytes(body)


def _stack(stack: Stack, put: Any) -> dict[str, Any]:
    """Put the parts of a stack behind what is there already; gives its part of the header."""
    walls, ranges, heads, names, measures = [], [], [], [], []
    for layer in stack.layers:
        maps = layer.weights if layer.shown is None else layer.shown
        H, n_queries, n_keys = maps.shape
        pool = pool_of(stack.n_layers * H, n_queries, n_keys)
        names, numbers = list(layer.measures), torch.stack([values.float() for values in layer.measures.values()])
        measures.append(numbers)
        if stack.what == "scores":
            code, low_high = score_codes(largest_of_blocks(maps.float(), pool))
            ranges.append(low_high)
            walls.append(code)
            continue
        if pool > 1 or layer.shown is not None:
            walls.append(weight_codes(largest_of_blocks(maps.float(), pool)))
        heads += [[*put(raw), low, high] for raw, low, high in (_head(layer, i) for i in range(H))]
    plain = len(stack.queries.of) == n_queries and len(stack.keys.of) == n_keys
    shape = (H, n_queries, n_keys, math.ceil(n_queries / pool), math.ceil(n_keys / pool), pool)
    return {
        **_header(stack, shape, plain=plain),
        "order": names,
        "measures": _or_none(torch.cat(measures, 1)),
        "ranges": torch.cat(ranges).flatten().tolist() if ranges else [],
        "wall": put(planes(torch.stack(walls))) if walls else None,
        "heads": heads,
    }


def _header(stack: Stack, shape: Sequence[int], *, plain: bool) -> dict[str, Any]:
    """Notes on a stack, whose sizes are ``shape``, as the next line names them."""
    sizes = dict(zip(("n_heads", "n_queries", "n_keys", "rows", "columns", "pool"), shape, strict=True))
    about = {"name": stack.name, "what": stack.what, "numbers": list(stack.numbers or range(stack.n_layers))}
    sides = {"queries": stack.queries.sent(), "keys": stack.keys.sent(), "same": stack.same, "plain": plain}
    return sizes | about | {"n_layers": stack.n_layers, "axes": {**sides, "renormalise": stack.renormalise}}


def _pooled(stack: PooledStack, put: Any) -> dict[str, Any]:
    """Put the small maps of a stack and the heads that go along behind what is there already."""
    numbers = torch.cat([torch.stack([values.float() for values in layer.values()]) for layer in stack.measures], 1)
    heads: list[list[float] | None] = [None] * (stack.n_layers * stack.n_heads)
    for index in stack.exact:
        raw, low, high = _head(stack.open(*divmod(index, stack.n_heads)), 0)
        heads[index] = [*put(raw), low, high]
    sizes = (stack.n_heads, len(stack.queries.of), len(stack.keys.of), *stack.small[0].shape[1:], stack.pool)
    return {
        **_header(stack, sizes, plain=True),
        "order": list(stack.measures[0]),
        "measures": _or_none(numbers),
        "ranges": [],
        "wall": put(planes(torch.stack([weight_codes(maps) for maps in stack.small]))),
        "heads": heads,
    }


def packed_head(heads: Heads) -> tuple[bytes, float, float]:
    """One head as it is packed with the others, compressed, and the ends of its scale of small weights."""
    raw, low, high = _head(heads, 0)
    return zlib.compress(raw, 1), low, high


def _or_none(numbers: Tensor) -> list[float | None]:
    """Return the numbers as a list, with None for NaN, which JSON has not."""
    return [None if math.isnan(number) else number for number in numbers.flatten().tolist()]


def _head(layer: Heads, i: int) -> tuple[bytes, float, float]:
    """One head's bytes, and the ends of its scale of small weights."""
    weights = layer.weights[i].float()
    codes = weight_codes(weights)
    logs = weights.log() if layer.logarithms is None else layer.logarithms[i]
    tails, low, high = small_weights(codes, logs, layer.masked)
    return planes(codes) + tails, low, high
