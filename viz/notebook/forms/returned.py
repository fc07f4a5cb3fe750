"""Maps in what a model or its modules returned as plain tuples, and heads that came one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


def _dimensions(part: Any) -> int:
    return len(getattr(part, "shape", ()))


def weights_of_modules(parts: Sequence[Any]) -> list[Any] | None:
    """Return the maps out of (output, weights) of each layer's module, as a hook keeps them; None of other parts."""
    layers = [_weights_beside_output(part) for part in parts]
    return layers if layers and all(layer is not None for layer in layers) else None


def _weights_beside_output(part: Any) -> Any:
    """The second of two arrays, (B, T, d) and (B, H, T, K) or (B, T, K), which are no maps of two layers."""
    arrays = [value for value in part if _dimensions(value)] if isinstance(part, tuple | list) else []
    if len(arrays) != 2:
        return None
    output, weights = (tuple(value.shape) for value in arrays)
    is_output = 2 <= len(output) <= 3 and len(output) <= len(weights) <= 4 and output[-1] != weights[-1]
    return arrays[1] if is_output and weights[-2] in output[:-1] else None


def maps_of_output(parts: Sequence[Any]) -> Any:
    """Return the attentions of a model that was called with ``return_dict=False``; None of other parts.

    Raises:
        ValueError: a sentence, if such a tuple has no attentions, or those of several stacks.
    """
    if all(part is None or isinstance(part, tuple | list) for part in parts):
        return None
    places = [i for i, part in enumerate(parts) if _are_layers(part)]
    if len(places) == 1:
        return parts[places[0]]
    which = f"parts {', '.join(map(str, places))} have maps" if places else "none has a tuple of maps"
    raise ValueError(
        f"This is a tuple of {len(parts)} parts, as a model returns with return_dict=False, and {which}. Call the "
        "model with output_attentions=True and return_dict=True and hand over all that it gives."
    )


def _are_layers(part: Any) -> bool:
    is_list = isinstance(part, tuple | list) and any(layer is not None for layer in part)
    return is_list and all(layer is None or _dimensions(layer) == 4 for layer in part)


def heads_together(parts: Sequence[Any]) -> list[Tensor] | None:
    """Return layers (H, Q, K) of lists that hold the map of one head after the other; None of other parts."""
    if not all(isinstance(part, tuple | list) and part for part in parts):
        return None
    shapes = {tuple(getattr(head, "shape", ())) for part in parts for head in part}
    shape = next(iter(shapes))
    if len(shapes) != 1 or len(shape) != 2 or shape[0] == 1:
        return None
    return [torch.stack([torch.as_tensor(np.asarray(head)) for head in part])[None] for part in parts]
