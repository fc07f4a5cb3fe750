"""Read attentions in any form, check them, and make them one tensor a layer."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from viz.components.head_grid import pool_of
from viz.models.spelling.pieces import SPECIAL, raw_parts, spell
from viz.models.spelling.visible import visible
from viz.notebook.forms.arrays import as_maps
from viz.notebook.forms.mistakes import constant_sum, locate_invalid, mask_note, wrong_axis
from viz.notebook.on_demand import LayerOnDemand
from viz.notebook.survey import PLAIN, LayerSurvey, survey_layer

MOST_BYTES = 96_000_000
"""Of one map at 16 bits: 6,900 tokens. A browser holds a few of them."""

OTHERWISE = (
    "Rows of weights sum to 1 at most. Numbers that were changed after the softmax do not: dropout in training would "
    "(model.eval() ends it), and so would a scale."
)

SENT_BYTES = 12_000_000
"""Of all maps of a stack at 16 bits: 72 heads of 288 tokens. To pack more takes longer than 3 seconds on one core."""


@dataclass(frozen=True, kw_only=True)
class Maps:
    """The maps of one stack, (H, Q, K) a layer, float32, by the number of the layer; and what is to be said of them.

    ``nobody`` (H, Q) a layer is what is missing in a row, where some rows do not sum to 1. ``masked``
    (Q, K) is where no head of any layer looks, if there is such a place: a weight of 0 alone says little, for in 16
    bits everything below 6e-8 is 0. ``small`` are the maps as the largest of every ``pool`` x ``pool`` block, where
    there are many.
    """

    layers: "LayersAsGiven"
    nobody: Mapping[int, Tensor]
    shape: tuple[int, int, int]
    masked: Tensor | None = None
    small: Mapping[int, Tensor]
    measures: Mapping[int, Mapping[str, Tensor]] = field(default_factory=dict)
    pool: int = 1
    sums: tuple[float, float] = (1.0, 1.0)
    heads_assumed: int = 0
    mask_note: str | None = None

    def head(self, number: int, head: int) -> Tensor:
        """Return one map (Q, K), float32, without reading the layer's others."""
        return self.layers.head(number, head)

    def head_with_rest(self, number: int, head: int) -> Tensor:
        """Return one map with a last column for what its rows give to no token, where some do."""
        weights = self.head(number, head)
        return torch.cat([weights, self.nobody[number][head, :, None]], 1) if self.nobody else weights

    def layer_with_rest(self, number: int) -> Tensor:
        """Return all maps of a layer, (H, Q, K), with that column."""
        weights = self.layers[number]
        return torch.cat([weights, self.nobody[number][..., None]], -1) if self.nobody else weights


class LayersAsGiven(Mapping[int, Tensor]):
    """Layers that stay where and as they are, on a GPU or in 16 bits too; what is read of them is float32."""

    def __init__(self, layers: Mapping[int, Any], name: str) -> None:
        self._layers, self._name = layers, name

    def __getitem__(self, number: int) -> Tensor:
        return self.raw(number).to("cpu", torch.float32)

    def raw(self, number: int) -> Tensor:
        """Return a layer (H, Q, K), without a copy."""
        return as_maps(self._layers[number], f"layer {number} of the {self._name} attentions", len(self._layers))

    def survey(self, number: int, pool: int) -> LayerSurvey:
        """Return the survey of a layer: that of the model's own pass, if it has the same blocks."""
        layer = self._layers[number]
        is_same = isinstance(layer, LayerOnDemand) and layer.survey.pool == pool
        return layer.survey if is_same else survey_layer([self.raw(number)], pool)

    def shape(self, number: int) -> tuple[int, int, int]:
        """Return the heads, queries and keys of a layer."""
        layer = self._layers[number]
        heads, queries, keys = layer.survey.shape if isinstance(layer, LayerOnDemand) else self.raw(number).shape
        return heads, queries, keys

    def __iter__(self) -> Iterator[int]:
        return iter(self._layers)

    def __contains__(self, number: object) -> bool:
        # Mapping's own would read the layer.
        return number in self._layers

    def __len__(self) -> int:
        return len(self._layers)

    def head(self, number: int, head: int) -> Tensor:
        """Return one map of a layer, float32."""
        layer = self._layers[number]
        weights = layer.head(head) if isinstance(layer, LayerOnDemand) else self.raw(number)[head]
        return weights.to("cpu", torch.float32)


def read_layers(attentions: Any, name: str, numbers: Sequence[int] | None = None) -> Maps:
    """Read a tuple with (1, H, Q, K) or (H, Q, K) for each layer; where None stands in it, a layer has no map.

    Raises:
        ValueError: a sentence on what is wrong, and how to get it right.
    """
    if not isinstance(attentions, tuple | list):
        raise ValueError(
            f"The {name} attentions are no tuple with a tensor for each layer, but {type(attentions).__name__}: hand "
            "over a tuple, a list or an array of weights, all that a model gave, or a model with its tokenizer and a "
            "text."
        )
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
    # A matrix alone is one head; each of several may be a head, a text or a layer.
    assumed = [n for shape in shapes if len(shape) in (2, 3) for n in [(1, *shape)[-3]] if n > 1 or len(shape) == 2]
    assumed = assumed if len(present) > 1 or max(assumed, default=0) > 1 else []
    is_large = 2 * sum(map(math.prod, shapes)) > SENT_BYTES
    return _survey(LayersAsGiven(present, name), name, next(iter(assumed), 0), is_large=is_large)


def _survey(layers: LayersAsGiven, name: str, heads_assumed: int, *, is_large: bool) -> Maps:
    """Read every layer once: check its numbers, sum its rows, and pool its maps if they are many."""
    surveys: dict[int, LayerSurvey] = {}
    pool, nowhere = 1, torch.ones((), dtype=torch.bool)
    for i in layers:
        first = next(iter(surveys.values()), None)
        if first is None and is_large:
            heads, queries, keys = layers.shape(i)
            pool = pool_of(len(layers) * heads, queries, keys)
        surveys[i] = survey = layers.survey(i, pool)
        if first and survey.shape != first.shape:
            raise ValueError(
                f"Layer {i} of the {name} attentions has maps of {_size(survey.shape)}, layer {next(iter(surveys))} of "
                f"{_size(first.shape)}: all layers of a stack have the same heads and tokens."
            )
        _check_weights(survey, layers, i, name)
        nowhere = nowhere & survey.nowhere
    if bool(nowhere.all()):
        raise ValueError(f"Every number in the {name} attentions is 0: nothing looks anywhere.")
    rest, low_high = _missing(layers, surveys, name)
    lowest = next(iter(surveys))
    return Maps(
        mask_note=None if is_large else mask_note(layers.raw(lowest), surveys[lowest].tolerance),
        layers=layers, nobody=rest, shape=survey.shape, sums=low_high, heads_assumed=heads_assumed, pool=pool,
        small={i: survey.small for i, survey in surveys.items()} if is_large else {},
        measures={i: survey.measures for i, survey in surveys.items()},
        masked=nowhere if bool(nowhere.any()) else None,
    )  # fmt: skip


def _missing(
    layers: LayersAsGiven, surveys: Mapping[int, LayerSurvey], name: str
) -> tuple[dict[int, Tensor], tuple[float, float]]:
    """Measure the rows' sums: 1, or 0 where a query may look nowhere, or less if a part goes to no token."""
    sums = {i: survey.sums for i, survey in surveys.items()}
    low = min(float(total.where(total != 0, 1.0).min()) for total in sums.values())
    high = max(float(total.max()) for total in sums.values())
    if low >= 1 - PLAIN and high <= 1 + PLAIN:
        return {}, (1.0, 1.0)
    off = max(survey.tolerance for survey in surveys.values())
    i = max(sums, key=lambda number: float((sums[number].where(sums[number] != 0, 1.0) - 1).abs().max()))
    total, raw = sums[i], layers.raw(i)
    if high > 1 + off:
        head, query = divmod(int(total.argmax()), total.shape[1])
        factor = constant_sum(total, off)
        otherwise = f"Every row sums to {factor:.3f}: layer / {factor:.3f}." if factor else OTHERWISE
        raise ValueError(
            f"In layer {i} of the {name} attentions, the row of token {query} in head {head} sums to "
            f"{float(total.max()):.3f} and not to 1; the sums of all rows are from {low:.3f} to {high:.3f}. "
            f"{wrong_axis(raw, off) or otherwise}"
        )
    if low >= 1 - off:
        return {}, (1.0, 1.0)
    if sentence := wrong_axis(raw, off):
        raise ValueError(f"In layer {i} of the {name} attentions rows sum to {low:.3f} to {high:.3f}. {sentence}")
    return {i: (1 - total).clamp(min=0).where(total != 0, 0.0) for i, total in sums.items()}, (low, high)


def _size(shape: Sequence[int]) -> str:
    heads, queries, keys = shape
    return f"{heads} heads, {queries} × {keys} tokens"


def _check_weights(survey: LayerSurvey, layers: LayersAsGiven, i: int, name: str) -> None:
    """Refuse numbers that are no weights.

    Raises:
        ValueError: saying what they are, and where.
    """
    start = f"Some numbers in layer {i} of the {name} attentions are"
    if not (math.isfinite(survey.lowest) and math.isfinite(survey.highest)):
        raise ValueError(
            f"{start} no numbers (NaN or infinite), so they are no weights. {locate_invalid(layers.raw(i))}"
        )
    if survey.lowest < 0:
        raise ValueError(
            f"{start} negative, down to {survey.lowest:.3g}: weights are from 0 to 1. {locate_invalid(layers.raw(i))}"
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
    is_list = hasattr(tokens, "tolist") or (isinstance(tokens, Sequence) and not isinstance(tokens, str | bytes))
    words = token_words(tokens) if is_list else []
    if not is_list or len(words) != n:
        what = len(words) if is_list else f"{type(tokens).__name__}, and not a list"
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
    return [token if isinstance(token, bytes) else _name_of(token) for token in token_list]


def _name_of(token: Any) -> str:
    """A token's name; a number may stand in an array of its own."""
    return str(token.item() if hasattr(token, "item") and getattr(token, "ndim", 1) == 0 else token)


def is_special_token(token: Any) -> bool:
    """Return whether a token is one that a tokenizer adds."""
    return isinstance(token, str) and bool(SPECIAL.fullmatch(token))
