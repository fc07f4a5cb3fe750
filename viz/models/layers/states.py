"""The states between the blocks of a model, numbered by its blocks."""

from typing import Any

from torch import Tensor

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
