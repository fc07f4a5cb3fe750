"""Changes to q and k between the projection and the scores, as a layer of a model makes them: norms, RoPE, or both."""

import inspect
import math
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from viz.core.heads import concat_heads, split_heads
from viz.core.norm import NormWeights, layer_norm, rms_norm
from viz.models.layout import NORMS, Layer, LoadedModel

Change = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Queries (H, T, d_k) and keys (G, T, d_k), before and after."""

KEY_NORMS = ("k_norm", "k_layernorm", "key_layernorm")
"""Names of the norm that k goes through, in the families that have one beside q's."""


def norm_weights(module: nn.Module, offset: float = 0.0) -> NormWeights:
    """LayerNorm calls its epsilon eps, Llama's and T5's norms variance_epsilon; ``offset`` is added to the weights."""
    gain, shift = module.weight, getattr(module, "bias", None)
    assert isinstance(gain, Tensor)
    eps: Any = module.eps if hasattr(module, "eps") else module.variance_epsilon
    return NormWeights(gain=gain.detach() + offset, shift=None if shift is None else shift.detach(), eps=float(eps))


def unchanged(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """Leave queries and keys as the projection makes them."""
    return q, k


def value_eps(layer: Layer) -> float | None:
    """Return the epsilon of the norm that a layer's values go through; None if there is no such norm."""
    norm: Any = getattr((layer.source or layer).attention, layer.layout.value_norm or "-", None)
    return None if norm is None else float(norm.eps)


def query_key_change(model: LoadedModel, layer: Layer, changes: str) -> Change:
    """Return the changes of a layer, made by its own norms and its own module's RoPE.

    Args:
        model: whose layer it is.
        layer: of a family that keeps its norms and its RoPE where most do.
        changes: the changes, as :class:`~viz.models.capture.Call` names them.
    """
    if not changes:
        return unchanged
    norm = _norm(layer) if "normed" in changes else unchanged
    if changes == "only_normed":
        return norm
    first, second = (_turn(model, layer), norm) if changes == "turned_normed" else (norm, _turn(model, layer))
    return lambda q, k: second(*first(q, k))


def _norm(layer: Layer) -> Change:
    of_q = _first(layer.attention, NORMS)
    of_k = _first((layer.source or layer).attention, KEY_NORMS)

    def norm(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return _normed(of_q, q), _normed(of_k, k)

    return norm


def _first(attention: nn.Module, names: tuple[str, ...]) -> nn.Module:
    return next(getattr(attention, name) for name in names if getattr(attention, name, None) is not None)


def _normed(norm: nn.Module, x: Tensor) -> Tensor:
    """Norm each head, or all heads' numbers of a token together (OLMo), as wide as the norm is."""
    if isinstance(norm, nn.LayerNorm):
        weights, normalize = norm_weights(norm), layer_norm
    else:
        weights, normalize = norm_weights(norm, _gain_offset(norm)), rms_norm
    if weights.gain.shape[-1] == x.shape[-1]:
        return normalize(x, weights)
    return split_heads(normalize(concat_heads(x), weights), len(x))


def _gain_offset(norm: nn.Module) -> int:
    """Measure the number that an RMS norm adds to its weights: 1 in Gemma, 0 elsewhere."""
    weights = norm_weights(norm)
    with torch.inference_mode():
        gain = norm(torch.ones_like(weights.gain)) * math.sqrt(1 + weights.eps)
    return round(float((gain - weights.gain).mean()))


def _turn(model: LoadedModel, layer: Layer) -> Change:
    """The RoPE of a layer's own module, whatever its base, scaling, width and pairing are."""
    base = model.model.base_model
    rotary: Any = getattr(base, "rotary_emb", None) or getattr(base, layer.layout.stack).rotary_emb
    apply = sys.modules[type(layer.attention).__module__].apply_rotary_pos_emb
    has_kinds = "layer_type" in inspect.signature(rotary.forward).parameters
    kind = (model.model.config.layer_types[layer.index],) if has_kinds else ()

    def turn(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = rotary(q[None].float(), torch.arange(q.shape[-2])[None], *kind)
        partner, cosine, sine = _parts_of_rope(apply, cos, sin)
        width = cos.shape[-1]

        def turn_vectors(x: Tensor) -> Tensor:
            part = x[..., :width]
            part = part * cosine.to(x.dtype) + part[..., partner] * sine.to(x.dtype)
            return torch.cat([part, x[..., width:]], dim=-1)

        return turn_vectors(q), turn_vectors(k)

    return turn


def _parts_of_rope(apply: Callable[..., tuple[Tensor, Tensor]], cos: Tensor, sin: Tensor) -> tuple[Tensor, ...]:
    """Take a model's RoPE apart: the place of the number each is turned with, (d), and the factors of both, (T, d).

    Its function is linear in the vectors, and some round them to float32, in which no slope could be measured.
    """
    width = cos.shape[-1]
    if "q" not in inspect.signature(apply).parameters:  # Gemma 4's turns queries and keys one after the other
        turn_one: Any = apply

        def apply(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
            return turn_one(q, cos, sin), turn_one(k, cos, sin)

    identity, nothing, every = (
        torch.eye(width)[None, None],
        torch.zeros_like(cos),
        torch.ones(1, 1, cos.shape[1], width),
    )
    partner = apply(identity, identity, torch.zeros(1, width, width), torch.ones(1, width, width))[0][0, 0]
    cosine, sine = (apply(every, every, *of)[0][0, 0] for of in ((cos, nothing), (nothing, sin)))
    return partner.abs().argmax(0), cosine, sine
