"""What a model's attentions are, as people have them in hand: checked, and made one tensor a layer."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.components.take_away import Axis, Heads, Stack
from viz.core.analysis.head_statistics import cross_portrait, portrait
from viz.models.spelling.pieces import SPECIAL, raw_parts, spell
from viz.models.spelling.visible import visible
from viz.notebook.precision import row_tolerance
from viz.notebook.structure import ambiguous

MOST_BYTES = 96_000_000
"""Of all maps at 16 bits: 72 heads of 816 tokens. A browser holds them, and a notebook's file is about as large."""


@dataclass(frozen=True, kw_only=True)
class Maps:
    """The maps of one stack, (H, Q, K) a layer, float32, by the number of the layer; and what is to be said of them.

    ``nobody`` (H, Q) a layer is what a row gives to no token that is shown, where some rows do not sum to 1.
    """

    layers: Mapping[int, Tensor]
    nobody: Mapping[int, Tensor]
    sums: tuple[float, float] = (1.0, 1.0)
    heads_assumed: int = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """Heads, queries and keys of every layer."""
        heads, queries, keys = next(iter(self.layers.values())).shape
        return heads, queries, keys


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
    if (size := 2 * sum(math.prod(getattr(layer, "shape", ())) for layer in attentions)) > MOST_BYTES:
        raise ValueError(
            f"These {len(attentions)} layers of the {name} attentions are {size / 1e6:.0f} MB, and at most "
            f"{MOST_BYTES / 1e6:.0f} MB can be shown at once. "
            "Hand over some of the layers, attentions[4:8] with layers=range(4, 8), or a shorter text."
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
    read = {i: _layer(layer, f"layer {i} of the {name} attentions", len(present)) for i, layer in present.items()}
    first = next(iter(read))
    for i, layer in read.items():
        if layer.shape != read[first].shape:
            raise ValueError(
                f"Layer {i} of the {name} attentions has maps of {_size(layer)}, layer {first} of "
                f"{_size(read[first])}: all layers of a stack have the same heads and tokens."
            )
    assumed = {len(layer) for layer in present.values() if len(layer.shape) == 3 and len(layer) > 1}
    return _with_rows(read, name, next(iter(assumed), 0))


def _with_rows(read: Mapping[int, Tensor], name: str, heads_assumed: int) -> Maps:
    """Measure the rows' sums: 1, or 0 where a query may look nowhere, or less if a part goes to no token."""
    sums = {i: _row_sums(layer, f"layer {i} of the {name} attentions") for i, layer in read.items()}
    off = max(row_tolerance(layer) for layer in read.values())
    low = min(float(total.where(total != 0, 1.0).min()) for total in sums.values())
    high = max(float(total.max()) for total in sums.values())
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
        return Maps(layers=read, nobody={}, heads_assumed=heads_assumed)
    rest = {i: (1 - total).clamp(min=0).where(total != 0, 0.0) for i, total in sums.items()}
    return Maps(layers=read, nobody=rest, sums=(low, high), heads_assumed=heads_assumed)


def high_of(sums: Tensor) -> str:
    """The largest sum, to three decimals."""
    return f"{float(sums.max()):.3f}"


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _size(layer: Tensor) -> str:
    heads, queries, keys = layer.shape
    return f"{heads} heads, {queries} × {keys} tokens"


def _layer(layer: Any, name: str, n_layers: int) -> Tensor:
    label = name[0].upper() + name[1:]
    if isinstance(layer, tuple | list):
        raise ValueError(f"{label} is itself a {type(layer).__name__}, and not (1, heads, queries, keys).")
    values = layer.detach().to("cpu", torch.float32) if isinstance(layer, Tensor) else _from_numpy(layer)
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


def _from_numpy(layer: Any) -> Tensor:
    return torch.from_numpy(np.asarray(layer).astype(np.float32))


def _row_sums(values: Tensor, name: str) -> Tensor:
    """The sum of every row, (H, Q).

    Raises:
        ValueError: if some numbers are no weights.
    """
    if not values.isfinite().all():
        raise ValueError(f"Some numbers in {name} are no numbers (NaN or infinite), so they are no weights.")
    if bool((values < 0).any()):
        raise ValueError(
            f"Some numbers in {name} are negative, down to {float(values.min()):.3g}: weights are from 0 to 1."
        )
    return values.sum(-1)


class Labels(tuple[str, ...]):
    """Tokens that are labels already, as a tokenizer at hand gives them."""


def labels(tokens: Sequence[Any], n: int, name: str) -> tuple[str, ...]:
    """Label each token as the app does: as text, every character visible, a letter that is cut numbered.

    ``tokens`` are as a tokenizer names them, of which bytes and spaces are told by their marks; :class:`Labels` are
    written as they are.

    Raises:
        ValueError: if they are not as many as the maps have rows or columns.
    """
    words = _words(tokens)
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


def _words(tokens: Sequence[Any]) -> list[Any]:
    """Tokens in a list: strings, bytes, or numbers, which may be a tensor's or those of one text in a batch."""
    given = tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)
    if len(given) == 1 and isinstance(given[0], list):
        given = given[0]
    return [token if isinstance(token, bytes) else str(token) for token in given]


def is_special_token(token: Any) -> bool:
    """Return whether a token is one that a tokenizer adds."""
    return isinstance(token, str) and bool(SPECIAL.fullmatch(token))


def blocked(stack: Sequence[Tensor]) -> Tensor | None:
    """Where no head of any layer looks, (Q, K): a mask; None if there is no such place.

    A weight of 0 alone says little: in 16 bits everything below 6e-8 is 0. So all heads have to agree.
    """
    nowhere = torch.stack([(layer == 0).all(0) for layer in stack]).all(0)
    return nowhere if bool(nowhere.any()) and not bool(nowhere.all()) else None


def stack_of(name: str, maps: Maps, queries: Sequence[Any], keys: Sequence[Any], *, nobody: str, same: bool) -> Stack:
    """Make a stack ready for the browser.

    Args:
        name: of the stack.
        maps: its maps.
        queries: the tokens along the rows.
        keys: the tokens along the columns.
        nobody: the name of the column with what rows give to no token, where there is such a thing.
        same: whether the rows' text is the columns'.
    """
    _, n_queries, n_keys = maps.shape
    rows, columns = labels(queries, n_queries, name), labels(keys, n_keys, name)
    special = torch.tensor([is_special_token(token) for token in _words(keys)])
    numbers = {word: i for i, word in enumerate(dict.fromkeys((*rows, *columns)))}
    row_ids, column_ids = (torch.tensor([numbers[word] for word in words]) for words in (rows, columns))
    mask = blocked(list(maps.layers.values()))
    if maps.nobody:
        columns = (*columns, nobody)
        mask = None if mask is None else torch.cat([mask, mask.all(1, keepdim=True)], 1)

    def described(i: int) -> Heads:
        layer = maps.layers[i]
        measures = portrait(layer, column_ids, special) if same else cross_portrait(layer, row_ids, column_ids, special)
        shown = torch.cat([layer, maps.nobody[i][..., None]], -1) if maps.nobody else layer
        return Heads(weights=shown, measures=vars(measures), masked=mask)

    return Stack(
        name=name, layers=map(described, maps.layers), n_layers=len(maps.layers), queries=_axis(rows),
        keys=_axis(columns), same=same and not maps.nobody, numbers=tuple(maps.layers),
    )  # fmt: skip


def _axis(words: tuple[str, ...]) -> Axis:
    return Axis(of=range(len(words)), labels=words)
