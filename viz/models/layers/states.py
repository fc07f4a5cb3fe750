"""Numbers that a model itself hands out: the states between its blocks, and the weights of its heads."""

from typing import Any

import torch
from torch import Tensor

from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec
from viz.models.layout import LoadedModel


def states_of(result: Any, model: LoadedModel) -> dict[str, tuple[Tensor, ...]]:
    """The hidden states (T, d_model) that a model handed out, by stack: before each block, and behind the last one."""
    if (hidden := getattr(result, "hidden_states", None)) is not None:
        # CLIP lists its last state as it is before the final norm; AltCLIP makes another vector of what is behind it.
        last = getattr(result, "last_hidden_state", None) if model.model.base_model is model.model else None
        states = [state[0] for state in (hidden if last is None else (*hidden[:-1], last))]
        blocks = {layer.block for layer in model.layers}
        skipped = [block for block in range(max(blocks)) if block not in blocks]
        # Without a picture these layers of Llama 3.2 Vision are not run.
        if len(states) + len(skipped) == max(blocks) + 2:
            for block in skipped:
                states.insert(block, states[block])
        return {model.layers[0].layout.stack: tuple(states)}
    return {name: tuple(state[0] for state in result[f"{name}_hidden_states"]) for name in ("encoder", "decoder")}


def maps_fields(weights: Tensor, width: int) -> dict[str, Any]:
    """Return the fields of a call whose weights (H, T, T) are known: the softmax of their logarithms is what they are.

    The model's vectors are not known here, and stand as zeros of its width.
    """
    n_heads, n, _ = weights.shape
    spec = AttentionSpec(d_model=width, n_heads=n_heads, d_head=max(1, width // n_heads))
    zeros, vectors = torch.zeros(spec.d_model, spec.H * spec.d_k), torch.zeros(n, width)
    return {
        "q": weights.float().clamp(min=torch.finfo(torch.float32).tiny).log(),
        "k": torch.eye(n).expand(n_heads, n, n),
        "v": torch.zeros(n_heads, n, spec.d_v),
        "options": {"allowed": (weights > 0).any(0), "scale": 1.0},
        "x": vectors,
        "memory": vectors,
        "projections": HeadWeights(spec=spec, w_q=zeros, w_k=zeros, w_v=zeros, w_o=zeros.T),
        "maps_only": True,
    }
