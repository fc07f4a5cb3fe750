"""Gates: numbers that multiply what each head gives, before W_O."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from viz.models.layout import Layer

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "softplus": nn.functional.softplus,
}


def gate_module(layer: Layer) -> nn.Module | None:
    """Return the module that makes a layer's gate; None if it has none."""
    module = getattr(layer.attention, layer.layout.gate, None)
    return module if isinstance(module, nn.Module) else None


def read_gate(layer: Layer, gate_output: Tensor, n_heads: int) -> Tensor:
    """Return a layer's gate, (H, T, d_v), or (H, T, 1) where a head has one number, from its module's output."""
    by_head = gate_output.unflatten(-1, (n_heads, -1))
    # Here q and the gate of head 0 come first, then those of head 1.
    if layer.layout.doubled:
        by_head = by_head.chunk(2, dim=-1)[1]
    # Beam's gate has one number a head.
    if isinstance(bias := getattr(layer.attention, "gate_bias", None), Tensor):
        by_head = by_head + bias.detach()[:, None]
    return ACTIVATIONS[layer.layout.gate_activation](by_head).transpose(0, 1)
