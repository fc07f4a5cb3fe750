"""Changes to q and k between the projection and the scores, as a layer of a model makes them: norms, RoPE, or both."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
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


def norm_weights(module: nn.Module) -> NormWeights:
    """Return the weights of a norm, its gain as it is: some models keep it less 1.

    LayerNorm calls its epsilon eps, Llama's and T5's norms variance_epsilon.
    """
    eps: Any = module.eps if hasattr(module, "eps") else module.variance_epsilon
    gain, shift = module.weight, getattr(module, "bias", None)
    # OPT may have norms that learn nothing.
    if gain is None:
        assert isinstance(module, nn.LayerNorm)
        return NormWeights(gain=torch.ones(module.normalized_shape), eps=float(eps))
    assert isinstance(gain, Tensor)
    weights = NormWeights(gain=gain.detach(), shift=None if shift is None else shift.detach(), eps=float(eps))
    return replace(weights, gain=weights.gain + _gain_offset(module, weights))


def _gain_offset(norm: nn.Module, weights: NormWeights) -> int:
    """Measure the number that a norm adds to its weights: 1 in Gemma and Nemotron, 0 elsewhere.

    On numbers whose mean is 0, which a layer norm and an RMS norm treat alike. Torch's own layer norm adds nothing.
    """
    if type(norm) is nn.LayerNorm:
        return 0
    gain, shift = weights.gain, 0.0 if weights.shift is None else weights.shift
    x = torch.linspace(-1, 1, gain.shape[-1], dtype=gain.dtype).expand_as(gain)
    normed = x / (x.square().mean(-1, keepdim=True) + weights.eps).sqrt()
    with torch.inference_mode():
        rest = norm(x) - normed * gain - shift
    return round(float((rest * normed).sum() / normed.square().sum()))


def unchanged(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """Leave queries and keys as the projection makes them."""
    return q, k


def value_eps(layer: Layer) -> float | None:
    """Return the epsilon of the norm that a layer's values go through; None if there is no such norm."""
    norm: Any = getattr((layer.source or layer).attention, layer.layout.value_norm, None)
    return None if norm is None else float(norm.eps)


def query_key_change(model: LoadedModel, layer: Layer, changes: str) -> Change:
    """Return the changes of a layer, made by its own norms and its own module's RoPE, where most families keep them.

    ``changes`` names them as :class:`~viz.models.capture.Call` does.
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
    weights, normalize = norm_weights(norm), layer_norm if isinstance(norm, nn.LayerNorm) else rms_norm
    if weights.gain.shape[-1] == x.shape[-1]:
        return normalize(x, weights)
    return split_heads(normalize(concat_heads(x), weights), len(x))


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
    # Gemma 4's function turns queries and keys one after the other.
    if "q" not in inspect.signature(apply).parameters:
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
