"""A long text as a model sees it: q and k of every layer, and never a matrix of all weights.

Attention itself is torch's ``scaled_dot_product_attention``, which goes through the keys in blocks. Q and k are kept
in three bytes a number (:mod:`viz.models.long.packed`), which moves a weight no further than float32 itself does. To
show that, one whole row of every head is kept as q and k gave it before they were packed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from viz.cancellation import check
from viz.core.heads import HeadWeights, project, share_kv, split_heads
from viz.core.long.rows import ScoreMod, weights_of_rows
from viz.core.long.streamed import LongMap, long_map
from viz.errors import ModelError
from viz.models.attention_interface import RowMask, recording, unscaled
from viz.models.capture import capture_tokens
from viz.models.checks import check_finite, check_tokens
from viz.models.layout import LoadedModel
from viz.models.long.masks import attend_by_rows
from viz.models.long.packed import Packed, pack
from viz.models.tokens import Tokens

Progress = Callable[[int], None]
"""Told how many layers are done."""

MOST_WEIGHTS = 32_000_000
"""Of a model that hands out its maps alone: all of them are kept, at three bytes a weight."""


@dataclass(frozen=True, kw_only=True)
class LongLayer:
    """One layer's queries (H, T, d_k) and keys (G, T, d_k), turned by position if the model does that.

    ``witness`` (H, T): the weights of the row ``LongCapture.witness_at``, of q and k as they were before packing.
    ``allowed``: the mask of a window or chunks, by rows; ``score_mod``: a soft cap; ``sinks`` (H,): scores for looking
    nowhere.
    """

    queries: Packed
    keys: Packed
    scale: float
    witness: Tensor
    allowed: RowMask | None = None
    score_mod: ScoreMod | None = None
    sinks: Tensor | None = None

    @property
    def q(self) -> Tensor:
        """Every head's queries in float32, (H, T, d_k)."""
        return self.queries.unpack()

    @property
    def k(self) -> Tensor:
        """Every head's keys in float32, (G, T, d_k)."""
        return self.keys.unpack()


@dataclass(frozen=True, kw_only=True)
class LongCapture:
    """A text of any length as a stack of attention layers sees it."""

    tokens: Tokens
    layers: tuple[LongLayer, ...]
    causal: bool
    witness_at: int

    @property
    def n_heads(self) -> int:
        """Query heads of a layer."""
        return len(self.layers[0].queries)

    def head(self, layer: int, head: int) -> tuple[Tensor, Tensor]:
        """One head's q and k, (T, d_k) each, in float32."""
        row_layer = self.layers[layer]
        return row_layer.queries[head], row_layer.keys[head * len(row_layer.keys) // len(row_layer.queries)]

    def options(self, layer: int, head: int) -> dict[str, Any]:
        """Options of a head's attention, for the functions of :mod:`viz.core.long`."""
        row_layer = self.layers[layer]
        return {
            "scale": row_layer.scale,
            "causal": self.causal,
            "allowed": row_layer.allowed,
            "score_mod": row_layer.score_mod,
            "sink": None if row_layer.sinks is None else float(row_layer.sinks[head]),
        }

    def sees(self, layer: int, at: Tensor) -> Tensor:
        """Return how many keys each of these queries may look at, in a layer."""
        n, mask = len(self.tokens.ids), self.layers[layer].allowed
        every = at + 1 if self.causal else torch.full_like(at, n)
        if mask is None:
            return every
        counts = [
            (mask(part, n) & ((torch.arange(n) <= part[:, None]) | (not self.causal))).sum(1) for part in at.split(64)
        ]
        return torch.cat(counts)

    def map_of(self, layer: int, head: int) -> LongMap:
        """One head's map, and what is known of its rows; it can be stopped between two strips of them."""
        return long_map(*self.head(layer, head), **self.options(layer, head), check=check)

    def rows_of(self, layer: int, head: int, at: Tensor) -> Tensor:
        """Whole rows of one head's weights, (rows, T)."""
        check()
        return weights_of_rows(*self.head(layer, head), at, **self.options(layer, head))


def _layer(q: Tensor, k: Tensor, *, at: int, sinks: Tensor | None = None, **options: Any) -> LongLayer:
    """Pack a layer's q (H, T, d_k) and k (G, T, d_k), and keep one row of each head's weights."""
    H, G, row = len(q), len(k), torch.tensor([at])
    of_heads = [None] * H if sinks is None else sinks.tolist()
    rows = [weights_of_rows(q[i], k[i * G // H], row, sink=of_heads[i], **options) for i in range(H)]
    del options["causal"]
    return LongLayer(queries=pack(q), keys=pack(k), witness=torch.cat(rows), sinks=sinks, **options)


class _Watch:
    """Attends for every layer of a pass, in blocks, and keeps q and k."""

    def __init__(self, model: LoadedModel, at: int, progress: Progress) -> None:
        self.at, self.progress = at, progress
        self.is_decoder = model.layers[0].layout.stack == "decoder"
        self.scaled = {id(layer.attention) for layer in model.layers if layer.layout.scaled}
        self.layers: list[LongLayer] = []
        self.causal = set[bool]()

    def __call__(
        self, module: nn.Module, q: Tensor, k: Tensor, v: Tensor, options: Mapping[str, Any], causal: bool | None
    ) -> Tensor:
        options = {name: value for name, value in options.items() if value is not None}
        # Splinter's layers and MarkupLM's do not say that they look both ways.
        causal = self.is_decoder if causal is None else bool(causal)
        mask, cap, sinks = (options.pop(name, None) for name in ("allowed", "score_mod", "sink"))
        n_heads, scale = q.shape[1], options["scale"]
        if not (mask is None or isinstance(mask, RowMask)):
            raise ModelError("streamed", option="attention_mask")
        if unknown := [name for name in options if name != "scale"]:
            raise ModelError("streamed", option=unknown[0])
        if id(module) in self.scaled:
            q, scale = unscaled(q)
        shared = share_kv(k, n_heads), share_kv(v, n_heads)
        how: dict[str, Any] = {"scale": scale, "causal": causal, "allowed": mask, "score_mod": cap}
        if mask is None and cap is None and sinks is None:
            output = scaled_dot_product_attention(q, *shared, is_causal=causal and q.shape[2] > 1, scale=scale)
        else:
            output = attend_by_rows(q, *shared, sinks=sinks, **how)
        self.layers.append(_layer(q[0], k[0], at=self.at, sinks=sinks, **how))
        self.causal.add(causal)
        self.progress(len(self.layers))
        return output


def long_capture(model: LoadedModel, tokens: Tokens, progress: Progress = lambda _: None) -> LongCapture:
    """Run a model on a text as long as it can read, and keep q and k of every layer.

    The vocabulary head is left out. Between two layers the computation can be stopped (:func:`viz.cancellation.check`);
    ``progress`` is told how many are done, and may raise to stop it, too.

    Raises:
        ModelError: "streamed", if this model's attention cannot be had from q and k alone; "streamed_pair", if it reads
            two texts; "streamed_chosen", if it chooses its keys.
    """
    check_tokens(model, tokens)
    at = len(tokens.ids) * 2 // 3
    if model.layers[0].layout.maps_only:
        return _of_maps(model, tokens, at)
    if model.model.config.is_encoder_decoder:
        raise ModelError("streamed_pair")
    # A scorer that chooses keys reads the whole mask.
    if any(getattr(layer.attention, "indexer", None) is not None for layer in model.layers):
        raise ModelError("streamed_chosen")
    watch = _Watch(model, at, progress)
    inputs: dict[str, Any] = {"input_ids": torch.tensor([tokens.ids]), "return_dict": True}
    if model.layers[0].layout.stack == "decoder":
        inputs["use_cache"] = False
    with torch.inference_mode(), recording({}, streamed=watch):
        final = model.model.base_model(**inputs).last_hidden_state[0]
    check_finite(model, {"last": [final]})
    if len(watch.causal) != 1 or len(watch.layers) != model.n_layers:
        raise ModelError("streamed", option="layers")
    return LongCapture(tokens=tokens, layers=tuple(watch.layers), causal=watch.causal.pop(), witness_at=at)


def longest(model: LoadedModel) -> int:
    """Return how many tokens of a long text are read at most."""
    n = model.n_layers * model.n_heads if model.layers[0].layout.maps_only else 1
    return min(model.max_tokens, isqrt(MOST_WEIGHTS // n)) if n > 1 else model.max_tokens


def _of_maps(model: LoadedModel, tokens: Tokens, at: int) -> LongCapture:
    """The maps that a model hands out: q are the logarithms of their weights, and k picks them."""
    calls = capture_tokens(model, tokens).calls
    causal = not any(bool(call.options["allowed"].triu(1).any()) for call in calls)
    masks = [RowMask(lambda _b, _h, at, keys, table=call.options["allowed"]: table[at, keys]) for call in calls]
    layers = tuple(
        _layer(call.q, call.k[:1], at=at, scale=1.0, causal=causal, allowed=mask)
        for call, mask in zip(calls, masks, strict=True)
    )
    return LongCapture(tokens=tokens, layers=layers, causal=causal, witness_at=at)


def long_seeded(tokens: Tokens, x: Tensor, weights: HeadWeights) -> LongCapture:
    """One layer of seeded heads on any vectors, one a token, (T, d_model): nothing is masked."""
    at = len(x) * 2 // 3
    with torch.inference_mode():
        q = split_heads(project(x, weights.w_q, weights.b_q), weights.spec.H)
        k = split_heads(project(x, weights.w_k, weights.b_k), weights.spec.G)
        layer = _layer(q, k, scale=weights.spec.d_k**-0.5, causal=False, at=at)
    return LongCapture(tokens=tokens, layers=(layer,), causal=False, witness_at=at)
