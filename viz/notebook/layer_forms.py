"""One layer's maps in the forms in which people have them, as a tensor."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.notebook.on_demand import LayerOnDemand
from viz.notebook.structure import ambiguous


def as_maps(layer: Any, name: str, n_layers: int) -> Tensor:
    """Return a layer's maps (H, Q, K), where and in the precision in which they are.

    Args:
        layer: (1, H, Q, K), (H, Q, K) or (Q, K): of torch, of numpy, or made when it is read.
        name: of the layer, for sentences.
        n_layers: how many layers there are.

    Raises:
        ValueError: a sentence, if it is something else.
    """
    label = name[0].upper() + name[1:]
    if not hasattr(layer, "shape"):
        raise ValueError(f"{label} is {name_of_kind(layer)}, and not numbers of (1, heads, queries, keys).")
    if isinstance(layer, LayerOnDemand):
        layer = layer.make()
    if isinstance(layer, Tensor) and layer.layout != torch.strided:
        layer = layer.to_dense()
    try:
        values = layer.detach() if isinstance(layer, Tensor) else torch.from_numpy(np.asarray(layer))
    except TypeError as error:
        raise ValueError(f"{label} is {type(layer).__name__} of {layer.dtype}: these are no numbers.") from error
    if not values.numel():
        raise ValueError(f"{label} is {' × '.join(map(str, values.shape))}: there is no weight in it.")
    if values.is_meta:
        raise ValueError(f"The weights of {name} are on the device meta, which holds no numbers.")
    if values.is_complex():
        raise ValueError(
            f"The weights of {name} are {str(values.dtype).removeprefix('torch.')}: weights are real numbers."
        )
    if values.dim() == 4:
        if values.shape[0] != 1:
            raise ValueError(
                f"{label} holds {values.shape[0]} texts: hand over one of them, "
                "tuple(layer[:1] for layer in attentions)."
            )
        values = values[0]
    if values.dim() == 2:  # a mean of heads: one map
        values = values[None]
    if values.dim() == 3 and len(values) > 1 and n_layers == 1 and len(layer.shape) == 3:
        raise ambiguous(tuple(values.shape))
    if values.dim() != 3:
        shape = " × ".join(map(str, values.shape)) or "a single number"
        raise ValueError(f"{label} is {shape}, and not (1, heads, queries, keys).")
    return values


def name_of_kind(value: Any) -> str:
    """Name the type of a value, for sentences."""
    return "None" if value is None else type(value).__name__
