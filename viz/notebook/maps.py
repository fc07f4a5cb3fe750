"""What a model's attentions are, as people have them in hand: checked, and made one tensor a layer."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.components.take_away import Axis, Heads, Stack
from viz.core.analysis.head_statistics import cross_portrait, portrait
from viz.models.spelling.pieces import SPECIAL, raw_parts, spell

OFF = {torch.float16: 0.02, torch.bfloat16: 0.05}
"""How far the sum of a row may be from 1: half a step for each of some hundred weights of 11 or 8 bits."""

OFF_USUALLY = 1e-3
MOST_BYTES = 96_000_000
"""Of all maps at 16 bits: 72 heads of 816 tokens. A browser holds them, and a notebook's file is about as large."""


def layers(attentions: Any, name: str) -> list[Tensor]:
    """One tensor (H, Q, K) a layer, float32, of a tuple with (1, H, Q, K) or (H, Q, K) for each.

    Raises:
        ValueError: a sentence on what is wrong, and how to get it right.
    """
    if not isinstance(attentions, Sequence) and not hasattr(attentions, "shape"):
        raise ValueError(f"The {name} attentions are no tuple with a tensor for each layer, but {_kind(attentions)}.")
    if (size := 2 * sum(math.prod(getattr(layer, "shape", ())) for layer in attentions)) > MOST_BYTES:
        raise ValueError(
            f"These {len(attentions)} layers of the {name} attentions are {size / 1e6:.0f} MB, and at most "
            f"{MOST_BYTES / 1e6:.0f} MB can be shown at once. "
            "Hand over some of the layers, attentions[:4], or a shorter text."
        )
    found = [_layer(layer, f"layer {i} of the {name} attentions") for i, layer in enumerate(attentions)]
    if not found:
        raise ValueError(f"There is no layer in the {name} attentions.")
    for i, layer in enumerate(found):
        if layer.shape != found[0].shape:
            raise ValueError(
                f"Layer {i} of the {name} attentions has maps of {_size(layer)}, layer 0 of {_size(found[0])}: "
                "all layers of a stack have the same heads and tokens."
            )
    return found


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _size(layer: Tensor) -> str:
    heads, queries, keys = layer.shape
    return f"{heads} heads, {queries} × {keys} tokens"


def _layer(layer: Any, name: str) -> Tensor:
    if layer is None:
        raise ValueError(
            f"There are no weights in {name}: the model computed them in one go and kept none. "
            'Load it with attn_implementation="eager" and ask for output_attentions=True.'
        )
    if isinstance(layer, tuple | list):
        raise ValueError(
            f"{name[0].upper()}{name[1:]} is itself a {type(layer).__name__}: generate() gives one tuple for each "
            "token written. Run the model once on the whole text, and hand over that."
        )
    if isinstance(layer, Tensor):
        values, off = layer.detach().to("cpu", torch.float32), OFF.get(layer.dtype, OFF_USUALLY)
    else:
        array = np.asarray(layer)
        values, off = (
            torch.from_numpy(array.astype(np.float32)),
            OFF_USUALLY if array.itemsize > 2 else OFF[torch.bfloat16],
        )
    if values.dim() == 4:
        if values.shape[0] != 1:
            raise ValueError(
                f"{name[0].upper()}{name[1:]} holds {values.shape[0]} texts: hand over one of them, "
                "tuple(layer[:1] for layer in attentions)."
            )
        values = values[0]
    if values.dim() != 3:
        shape = " × ".join(map(str, values.shape)) or "a single number"
        raise ValueError(f"{name[0].upper()}{name[1:]} is {shape}, and not (1, heads, queries, keys).")
    _check_rows(values, off, name)
    return values


def _check_rows(values: Tensor, off: float, name: str) -> None:
    """Rows of weights sum to 1, or to 0 where a query may look nowhere."""
    if not values.isfinite().all() or bool((values < 0).any()):
        raise ValueError(
            f"Some numbers in {name} are negative or no numbers: these are no weights. "
            "Scores become weights by a softmax."
        )
    sums = values.sum(-1)
    wrong = ((sums - 1).abs() > off) & (sums != 0)
    if wrong.any():
        head, query = (int(place) for place in wrong.nonzero()[0])
        raise ValueError(
            f"In {name}, the row of token {query} in head {head} sums to {float(sums[head, query]):.3f} and not to 1. "
            "Dropout does that, so call model.eval() first; or these are no weights."
        )


class Labels(tuple[str, ...]):
    """Tokens that are labels already, as a tokenizer at hand gives them."""


def labels(tokens: Sequence[Any], n: int, name: str) -> tuple[str, ...]:
    """Label each token as the app does: as text, every character visible, a letter that is cut numbered.

    ``tokens`` are as a tokenizer names them, of which bytes and spaces are told by their marks; :class:`Labels` are
    written as they are.

    Raises:
        ValueError: if they are not as many as the maps have rows or columns.
    """
    words = [str(token) for token in tokens]
    if isinstance(tokens, str) or len(words) != n:
        what = "one text, not a list of tokens" if isinstance(tokens, str) else f"{len(words)}"
        raise ValueError(
            f"The {name} maps have {n} tokens, and the tokens handed over are {what}: "
            "tokenizer.convert_ids_to_tokens(ids) gives one for each."
        )
    if isinstance(tokens, Labels):
        return tuple(words)
    return tuple(label or "·" for label in spell(raw_parts(words)))


def blocked(stack: Sequence[Tensor]) -> Tensor | None:
    """Where no head of any layer looks, (Q, K): a mask; None if there is no such place.

    A weight of 0 alone says little: in 16 bits everything below 6e-8 is 0. So all heads have to agree.
    """
    nowhere = torch.stack([(layer == 0).all(0) for layer in stack]).all(0)
    return nowhere if bool(nowhere.any()) and not bool(nowhere.all()) else None


def stack_of(name: str, attentions: Any, queries: Sequence[Any], keys: Sequence[Any]) -> tuple[Stack, list[Tensor]]:
    """A stack ready for the browser, and its maps."""
    maps = layers(attentions, name)
    _, n_queries, n_keys = maps[0].shape
    rows, columns = labels(queries, n_queries, name), labels(keys, n_keys, name)
    special = torch.tensor([bool(SPECIAL.fullmatch(str(token))) for token in keys])
    numbers = {word: i for i, word in enumerate(dict.fromkeys((*rows, *columns)))}
    row_ids, column_ids = (torch.tensor([numbers[word] for word in words]) for words in (rows, columns))
    same = name != "cross"
    if same and n_queries != n_keys:
        raise ValueError(
            f"The {name} maps are {n_queries} × {n_keys}: a text that looks at itself has square ones. "
            "Maps between two texts are the third of (encoder, decoder, cross)."
        )

    mask = blocked(maps)

    def described(layer: Tensor) -> Heads:
        measures = portrait(layer, column_ids, special) if same else cross_portrait(layer, row_ids, column_ids, special)
        return Heads(weights=layer, measures=vars(measures), masked=mask)

    def axis(words: tuple[str, ...]) -> Axis:
        return Axis(of=range(len(words)), labels=words)

    stack = Stack(
        name=name, layers=map(described, maps), n_layers=len(maps), queries=axis(rows), keys=axis(columns), same=same
    )  # fmt: skip
    return stack, maps
