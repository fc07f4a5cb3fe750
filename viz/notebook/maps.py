"""Read attentions in any form, check them, and make them one tensor a layer."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.components.head_grid import largest_of_blocks, pool_of
from viz.models.spelling.pieces import SPECIAL, raw_parts, spell
from viz.models.spelling.visible import visible
from viz.notebook.on_demand import LayerOnDemand
from viz.notebook.precision import PLAIN, row_tolerance
from viz.notebook.structure import ambiguous

MOST_BYTES = 96_000_000
"""Of one map at 16 bits: 6,900 tokens. A browser holds a few of them."""

SENT_BYTES = 12_000_000
"""Of all maps of a stack at 16 bits: 72 heads of 288 tokens. To pack more takes longer than 3 seconds on one core."""


@dataclass(frozen=True, kw_only=True)
class Maps:
    """The maps of one stack, (H, Q, K) a layer, float32, by the number of the layer; and what is to be said of them.

    ``nobody`` (H, Q) a layer is what a row gives to no token that is shown, where some rows do not sum to 1. ``masked``
    (Q, K) is where no head of any layer looks, if there is such a place: a weight of 0 alone says little, for in 16
    bits everything below 6e-8 is 0. ``small`` are the maps as the largest of every ``pool`` x ``pool`` block, where
    there are many.
    """

    layers: Mapping[int, Tensor]
    nobody: Mapping[int, Tensor]
    shape: tuple[int, int, int]
    masked: Tensor | None = None
    small: Mapping[int, Tensor]
    pool: int = 1
    sums: tuple[float, float] = (1.0, 1.0)
    heads_assumed: int = 0

    def head(self, number: int, head: int) -> Tensor:
        """Return one map (Q, K), float32, without reading the layer's others."""
        layers = self.layers
        return layers.head(number, head) if isinstance(layers, LayersAsGiven) else layers[number][head]

    def head_with_rest(self, number: int, head: int) -> Tensor:
        """Return one map with a last column for what its rows give to no token, where some do."""
        weights = self.head(number, head)
        return torch.cat([weights, self.nobody[number][head, :, None]], 1) if self.nobody else weights


class LayersAsGiven(Mapping[int, Tensor]):
    """Layers that stay where and as they are, on a GPU or in 16 bits too; what is read of them is float32."""

    def __init__(self, layers: Mapping[int, Any], name: str) -> None:
        self._layers, self._name = layers, name

    def __getitem__(self, number: int) -> Tensor:
        return self.raw(number).to("cpu", torch.float32)

    def raw(self, number: int) -> Tensor:
        """Return a layer (H, Q, K), without a copy."""
        return _layer(self._layers[number], f"layer {number} of the {self._name} attentions", len(self._layers))

    def __iter__(self) -> Iterator[int]:
        return iter(self._layers)

    def __contains__(self, number: object) -> bool:
        return number in self._layers  # Mapping's own would read the layer

    def __len__(self) -> int:
        return len(self._layers)

    def head(self, number: int, head: int) -> Tensor:
        """Return one map of a layer, float32."""
        return self.raw(number)[head].to("cpu", torch.float32)


def read_layers(attentions: Any, name: str, numbers: Sequence[int] | None = None) -> Maps:
    """Read a tuple with (1, H, Q, K) or (H, Q, K) for each layer; where None stands in it, a layer has no map.

    Args:
        attentions: the layers.
        name: of the stack, for sentences.
        numbers: of the layers in the model; without them they are counted as they stand.

    Raises:
        ValueError: a sentence on what is wrong, and how to get it right.
    """
    if not isinstance(attentions, Sequence):
        raise ValueError(f"The {name} attentions are no tuple with a tensor for each layer, but {_kind(attentions)}.")
    shapes = [tuple(getattr(layer, "shape", ())) for layer in attentions]
    if (size := max((2 * math.prod(shape[-2:]) for shape in shapes if len(shape) > 1), default=0)) > MOST_BYTES:
        raise ValueError(
            f"One map of the {name} attentions is {size / 1e6:.0f} MB, and at most {MOST_BYTES / 1e6:.0f} MB can be "
            "shown at once: hand over a shorter text."
        )
    if numbers is not None and len(numbers) != len(attentions):
        raise ValueError(f"layers= names {len(numbers)} layers, and the {name} attentions have {len(attentions)}.")
    places = zip(numbers or range(len(attentions)), attentions, strict=True)
    present = {i: layer for i, layer in places if layer is not None}
    if not present:
        all_none = f"None for each of {len(attentions)} layers" if len(attentions) else "no layer"
        raise ValueError(
            f"There is {all_none} in the {name} attentions: no weights were kept. "
            'Models keep them if they are loaded with attn_implementation="eager" and called with '
            "output_attentions=True."
        )
    assumed = {len(layer) for layer in present.values() if len(layer.shape) == 3 and len(layer) > 1}
    raw_layers = LayersAsGiven(present, name)
    if 2 * sum(map(math.prod, shapes)) > SENT_BYTES:
        return _survey(raw_layers, name, next(iter(assumed), 0), is_large=True)
    return _survey(dict(raw_layers), name, next(iter(assumed), 0), is_large=False)


def _survey(layers: Mapping[int, Tensor], name: str, heads_assumed: int, *, is_large: bool) -> Maps:
    """Read every layer once: check its numbers, sum its rows, and pool its maps if they are many."""
    sums: dict[int, Tensor] = {}
    small: dict[int, Tensor] = {}
    shape, first, pool, nowhere = (0, 0, 0), 0, 1, torch.ones(())
    for i in layers:
        layer = _raw(layers, i)
        if not sums:
            first, shape = i, (layer.shape[0], layer.shape[1], layer.shape[2])
            pool = pool_of(len(layers) * shape[0], *shape[1:]) if is_large else 1
        elif layer.shape != shape:
            raise ValueError(
                f"Layer {i} of the {name} attentions has maps of {_size(layer.shape)}, layer {first} of "
                f"{_size(shape)}: all layers of a stack have the same heads and tokens."
            )
        highest = layer.amax(0).cpu()
        sums[i] = _row_sums(layer, layer.amin(0).cpu(), highest, f"layer {i} of the {name} attentions")
        nowhere = nowhere * (highest == 0)
        if is_large:
            small[i] = largest_of_blocks(layer, pool).to("cpu", torch.float32)
    masked = nowhere.bool()
    rest, low_high = _missing(layers, sums, name)
    return Maps(
        layers=layers, nobody=rest, shape=shape, sums=low_high, heads_assumed=heads_assumed, small=small, pool=pool,
        masked=masked if bool(masked.any()) and not bool(masked.all()) else None,
    )  # fmt: skip


def _raw(layers: Mapping[int, Tensor], number: int) -> Tensor:
    """A layer as it is, without a copy in float32."""
    return layers.raw(number) if isinstance(layers, LayersAsGiven) else layers[number]


def _missing(
    layers: Mapping[int, Tensor], sums: Mapping[int, Tensor], name: str
) -> tuple[dict[int, Tensor], tuple[float, float]]:
    """Measure the rows' sums: 1, or 0 where a query may look nowhere, or less if a part goes to no token."""
    low = min(float(total.where(total != 0, 1.0).min()) for total in sums.values())
    high = max(float(total.max()) for total in sums.values())
    if low >= 1 - PLAIN and high <= 1 + PLAIN:
        return {}, (1.0, 1.0)
    off = max(row_tolerance(_raw(layers, i)) for i in layers)
    if high > 1 + off:
        i, total = next((i, total) for i, total in sums.items() if float(total.max()) > 1 + off)
        head, query = divmod(int(total.argmax()), total.shape[1])
        raise ValueError(
            f"In layer {i} of the {name} attentions, the row of token {query} in head {head} sums to {high_of(total)} "
            f"and not to 1; the sums of all rows are from {low:.3f} to {high:.3f}. Rows of weights sum to 1 at most. "
            "Numbers that were changed after the softmax do not: dropout in training would (model.eval() ends it), "
            "and so would a scale."
        )
    if low >= 1 - off:
        return {}, (1.0, 1.0)
    return {i: (1 - total).clamp(min=0).where(total != 0, 0.0) for i, total in sums.items()}, (low, high)


def high_of(sums: Tensor) -> str:
    """The largest sum, to three decimals."""
    return f"{float(sums.max()):.3f}"


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _size(shape: Sequence[int]) -> str:
    heads, queries, keys = shape
    return f"{heads} heads, {queries} × {keys} tokens"


def _layer(layer: Any, name: str, n_layers: int) -> Tensor:
    label = name[0].upper() + name[1:]
    if isinstance(layer, tuple | list):
        raise ValueError(f"{label} is itself a {type(layer).__name__}, and not (1, heads, queries, keys).")
    if isinstance(layer, LayerOnDemand):
        layer = layer.make()
    if isinstance(layer, Tensor) and layer.layout != torch.strided:
        layer = layer.to_dense()
    values = layer.detach() if isinstance(layer, Tensor) else torch.from_numpy(np.asarray(layer))
    if values.dim() == 4:
        if values.shape[0] != 1:
            raise ValueError(
                f"{label} holds {values.shape[0]} texts: hand over one of them, "
                "tuple(layer[:1] for layer in attentions)."
            )
        values = values[0]
    if values.dim() == 2:  # a mean of heads: one map
        values = values[None]
    if values.dim() == 3 and len(values) > 1 and n_layers == 1 and len(layer.shape) == 3:
        raise ambiguous(tuple(values.shape))
    if values.dim() != 3:
        shape = " × ".join(map(str, values.shape)) or "a single number"
        raise ValueError(f"{label} is {shape}, and not (1, heads, queries, keys).")
    return values


def _row_sums(values: Tensor, lowest: Tensor, highest: Tensor, name: str) -> Tensor:
    """The sum of every row, (H, Q).

    Raises:
        ValueError: if some numbers are no weights.
    """
    low, high = float(lowest.amin()), float(highest.amax())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"Some numbers in {name} are no numbers (NaN or infinite), so they are no weights.")
    if low < 0:
        raise ValueError(f"Some numbers in {name} are negative, down to {low:.3g}: weights are from 0 to 1.")
    if values.dtype == torch.float32 or values.is_cuda:
        return values.sum(-1, dtype=torch.float32).cpu()
    buffer = torch.empty(values.shape[1:])  # a processor sums 16 bits slowly, and new memory for a layer is slow too
    return torch.stack([buffer.copy_(head).sum(-1) for head in values])


class Labels(tuple[str, ...]):
    """Tokens that are labels already, as a tokenizer at hand gives them."""


def labels(tokens: Sequence[Any], n: int, name: str) -> tuple[str, ...]:
    """Label each token as the app does: as text, every character visible, a letter that is cut numbered.

    ``tokens`` are as a tokenizer names them, of which bytes and spaces are told by their marks; :class:`Labels` are
    written as they are.

    Raises:
        ValueError: if they are not as many as the maps have rows or columns.
    """
    if not isinstance(tokens, Iterable):
        raise ValueError(
            f"The tokens along the {name} maps are {type(tokens).__name__}, and not a list with one for each of {n}."
        )
    words = token_words(tokens)
    if isinstance(tokens, str) or len(words) != n:
        what = "one text, not a list of tokens" if isinstance(tokens, str) else f"{len(words)}"
        raise ValueError(
            f"The {name} maps have {n} tokens, and the tokens handed over are {what}: "
            "tokenizer.convert_ids_to_tokens(ids) gives one for each."
        )
    if isinstance(tokens, Labels):
        return tuple(words)
    has_bytes = any(isinstance(word, bytes) for word in words)
    parts = [word if isinstance(word, bytes) else visible(word) for word in words] if has_bytes else raw_parts(words)
    return tuple(label or "·" for label in spell(parts))


def token_words(tokens: Sequence[Any]) -> list[Any]:
    """Tokens in a list: strings, bytes, or numbers, which may be a tensor's or those of one text in a batch."""
    token_list = tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)
    if len(token_list) == 1 and isinstance(token_list[0], list):
        token_list = token_list[0]
    return [token if isinstance(token, bytes) else str(token) for token in token_list]


def is_special_token(token: Any) -> bool:
    """Return whether a token is one that a tokenizer adds."""
    return isinstance(token, str) and bool(SPECIAL.fullmatch(token))
