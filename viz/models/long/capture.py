"""A long text as a model sees it: q and k of every layer, and never a matrix of all weights.

Attention itself is torch's ``scaled_dot_product_attention``, which goes through the keys in blocks. A model's q and k
are kept in half precision. How far that may move a weight is said by :meth:`LongCapture.most_off`, and to show that it
does not move more, one whole row of every head is kept as full precision has it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from viz.cancellation import check
from viz.core.heads import HeadWeights, project, share_kv, split_heads
from viz.core.long.rows import weights_of_rows
from viz.core.long.streamed import LongMap, long_map
from viz.errors import ModelError
from viz.models.attention_interface import recording
from viz.models.checks import check_finite, check_tokens
from viz.models.layout import LoadedModel
from viz.models.tokens import Tokens

ROUNDING = 2.0**-11
"""Of half precision: the largest error of a number, as a share of it."""

SMALLEST = 2.0**-25
"""And the largest error of a number that is very small."""

LARGEST = 60_000.0
"""A layer with a larger number than this is kept in full: half precision ends at 65,504."""

Progress = Callable[[int], None]
"""Told how many layers are done."""


@dataclass(frozen=True, kw_only=True)
class LongLayer:
    """One layer's ``q`` (H, T, d_k) and ``k`` (G, T, d_k), turned by position if the model does that.

    ``witness`` (H, T): the weights of the row ``LongCapture.witness_at``, of q and k in full precision.
    """

    q: Tensor
    k: Tensor
    scale: float
    witness: Tensor

    @property
    def is_rounded(self) -> bool:
        """Whether q and k are kept in half precision."""
        return self.q.dtype == torch.float16


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
        return len(self.layers[0].q)

    @property
    def n_kv_heads(self) -> int:
        """Key/value heads of a layer."""
        return len(self.layers[0].k)

    def head(self, layer: int, head: int) -> tuple[Tensor, Tensor]:
        """One head's q and k, (T, d_k) each, in float32."""
        found = self.layers[layer]
        return found.q[head].float(), found.k[head * self.n_kv_heads // self.n_heads].float()

    def options(self, layer: int) -> dict[str, Any]:
        """How the heads of a layer attend: what the functions of :mod:`viz.core.long` are told."""
        return {"scale": self.layers[layer].scale, "causal": self.causal}

    def map_of(self, layer: int, head: int) -> LongMap:
        """One head's map, and what is known of its rows; it can be stopped between two strips of them."""
        return long_map(*self.head(layer, head), **self.options(layer), check=check)

    def rows_of(self, layer: int, head: int, at: Tensor) -> Tensor:
        """Whole rows of one head's weights, (rows, T)."""
        check()
        return weights_of_rows(*self.head(layer, head), at, **self.options(layer))

    def most_off(self, layer: int, head: int, row: int) -> Tensor:
        r"""By how much each weight of this row can be off because q and k are rounded, (T,).

        The score of key j can be off by :math:`\delta_j \le s \sum_d (2u + u^2)\,|q_d k_{jd}|` (and by what rounding
        very small numbers adds), so the logarithm of its weight by
        :math:`\delta_j + \log \sum_m w_m e^{\delta_m}`.
        """
        found, options = self.layers[layer], self.options(layer)
        if not found.is_rounded:
            return torch.zeros(len(self.tokens.ids), dtype=torch.float64)
        q, k = (values.double() for values in self.head(layer, head))
        weights = weights_of_rows(q, k, torch.tensor([row]), **options)[0]
        sizes, q_size = k.abs(), q[row].abs()
        products = sizes @ q_size * (2 * ROUNDING + ROUNDING**2) * (1 + 2 * ROUNDING)
        small = SMALLEST * (sizes.sum(1) + q_size.sum() + len(q_size) * SMALLEST)
        delta = (products + small) * abs(found.scale)
        return weights * torch.expm1(delta + (weights * delta.exp()).sum().log())


def _rounded(*values: Tensor) -> list[Tensor]:
    """Copies in half precision, unless a number is too large for that."""
    fits = all(float(value.abs().max()) < LARGEST for value in values)
    return [value.to(torch.float16) if fits else value.clone() for value in values]


def _layer(q: Tensor, k: Tensor, scale: float, *, causal: bool, at: int, rounded: bool) -> LongLayer:
    """What is kept of a layer's q (H, T, d_k) and k (G, T, d_k)."""
    H, G, row = len(q), len(k), torch.tensor([at])
    rows = [weights_of_rows(q[i], k[i * G // H], row, scale=scale, causal=causal) for i in range(H)]
    kept = _rounded(q, k) if rounded else [q, k]
    return LongLayer(q=kept[0], k=kept[1], scale=scale, witness=torch.cat(rows))


class _Watch:
    """Attends for every layer of a pass, in blocks, and keeps q and k."""

    def __init__(self, at: int, progress: Progress) -> None:
        self.at, self.progress = at, progress
        self.layers: list[LongLayer] = []
        self.causal = set[bool]()

    def __call__(
        self, _: nn.Module, q: Tensor, k: Tensor, v: Tensor, options: Mapping[str, Any], causal: bool
    ) -> Tensor:
        if unknown := [name for name, value in options.items() if name != "scale" and value is not None]:
            raise ModelError("streamed", option=unknown[0])
        n_heads, scale = q.shape[1], options["scale"]
        output = scaled_dot_product_attention(
            q, share_kv(k, n_heads), share_kv(v, n_heads), is_causal=causal and q.shape[2] > 1, scale=scale
        )
        self.layers.append(_layer(q[0], k[0], scale, causal=causal, at=self.at, rounded=True))
        self.causal.add(causal)
        self.progress(len(self.layers))
        return output


def long_capture(model: LoadedModel, tokens: Tokens, progress: Progress = lambda _: None) -> LongCapture:
    """Run a model on a text as long as it can read, and keep q and k of every layer.

    The vocabulary head is left out. Between two layers the computation can be stopped
    (:func:`viz.cancellation.check`).

    Args:
        model: a loaded model, an encoder or a decoder; it is not changed.
        tokens: its own, of the text.
        progress: told after each layer how many are done; it may raise, to stop.

    Raises:
        ModelError: "streamed", if this model's attention cannot be had from q and k alone; "streamed_pair", if it reads
            two texts.
    """
    check_tokens(model, tokens)
    if model.model.config.is_encoder_decoder:
        raise ModelError("streamed_pair")
    at = len(tokens.ids) * 2 // 3
    watch = _Watch(at, progress)
    asked: dict[str, Any] = {"input_ids": torch.tensor([tokens.ids]), "return_dict": True}
    if model.layers[0].layout.stack == "decoder":
        asked["use_cache"] = False
    with torch.inference_mode(), recording({}, streamed=watch):
        final = model.model.base_model(**asked).last_hidden_state[0]
    check_finite(model, {"last": [final]})
    if len(watch.causal) != 1 or len(watch.layers) != model.n_layers:
        raise ModelError("streamed", option="layers")
    return LongCapture(tokens=tokens, layers=tuple(watch.layers), causal=watch.causal.pop(), witness_at=at)


def long_seeded(tokens: Tokens, x: Tensor, weights: HeadWeights) -> LongCapture:
    """One layer of seeded heads on any vectors, one a token, (T, d_model): nothing is rounded or masked."""
    at = len(x) * 2 // 3
    with torch.inference_mode():
        q = split_heads(project(x, weights.w_q, weights.b_q), weights.spec.H).contiguous()
        k = split_heads(project(x, weights.w_k, weights.b_k), weights.spec.G).contiguous()
        layer = _layer(q, k, weights.spec.d_k**-0.5, causal=False, at=at, rounded=False)
    return LongCapture(tokens=tokens, layers=(layer,), causal=False, witness_at=at)
