"""Numbers of torch, of numpy, and of whatever lends its memory to either, as the layers of a stack."""

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.utils.dlpack import from_dlpack

from viz.notebook.on_demand import LayerOnDemand

TORCH_TYPES = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
)  # fmt: skip
"""Types that torch computes with everywhere; of others, such as 8 bits and truth values, float32 is made first."""


def as_layers(value: Any) -> Any:
    """Return a list of layers, or of lists of them; nested lists of numbers, as JSON has them, become arrays.

    Raises:
        ValueError: a sentence, if an array is of several texts, or may be.
    """
    if isinstance(value, tuple | list):
        return _split_array(_of_lists(value)) if _is_numbers(value) else [_inner(part) for part in value]
    _check_plain(value, "This")
    return _split_array(_as_tensor(value, "This")) if hasattr(value, "shape") else value


def _inner(part: Any) -> Any:
    """A layer, or the layers of a step or a stack; nested lists of numbers become arrays."""
    if not isinstance(part, tuple | list):
        _check_plain(part, "A layer")
        return part
    return _of_lists(part) if _is_numbers(part) else [_inner(layer) for layer in part]


def _check_plain(value: Any, label: str) -> None:
    """Refuse nested, sparse and masked tensors, and such as only have a size: torch asks each of them otherwise.

    Raises:
        ValueError: a sentence on what to hand over.
    """
    if isinstance(value, Tensor) and (
        type(value) not in (Tensor, Parameter) or value.is_nested or value.layout != torch.strided or value.is_meta
    ):
        kind = type(value).__name__ if type(value) is not Tensor else "nested" if value.is_nested else value.layout
        raise _no_numbers(label, value, "on the device meta" if value.is_meta else str(kind).removeprefix("torch."))


def _no_numbers(label: str, value: Any, reason: str) -> ValueError:
    """The refusal of numbers that are not read."""
    return ValueError(
        f"{label} is {type(value).__name__} of which no real numbers can be read ({reason}). Hand over a plain tensor "
        "or array: layer.to_dense() of a sparse one, layer.unbind()[0] of a nested one, numpy.asarray(layer) of "
        "another library's."
    )


def _of_lists(value: Any) -> Any:
    """Nested lists of numbers as one array.

    Raises:
        ValueError: a sentence, if they are not as long as each other.
    """
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The lists of numbers are no table ({error}): all rows of a map have the same keys, and all layers of a "
            "stack the same heads and tokens."
        ) from error


def _is_numbers(value: Any) -> bool:
    while isinstance(value, tuple | list) and len(value):
        value = value[0]
    return isinstance(value, int | float)


def _split_array(array: Any) -> Any:
    """The layers of an array: (Q, K) and (1, Q, K) are one head, of more dimensions the first counts layers."""
    shape = tuple(array.shape)
    if len(shape) == 3 and shape[0] != 1:
        raise ambiguous(shape)
    if len(shape) < 4:
        return [array[None, None] if len(shape) == 2 else array]
    return [array[i : i + 1] if len(shape) == 4 else array[i] for i in range(shape[0])]


def ambiguous(shape: tuple[int, ...]) -> ValueError:
    """The refusal of (n, Q, K), which may be heads or texts."""
    n, size = shape[0], " × ".join(map(str, shape))
    return ValueError(
        f"{size} numbers may be {n} heads of one text or one map for each of {n} texts (nn.MultiheadAttention gives "
        "the mean of its heads). Hand over weights[None] if they are heads, weights[:1] for the first text."
    )


def _as_tensor(value: Any, label: str) -> Tensor:
    """A layer of any library, without a copy where torch has its type.

    Raises:
        ValueError: a sentence, if no numbers can be read.
    """
    _check_plain(value, label)
    try:
        values = value.detach() if isinstance(value, Tensor) else _of_library(value)
        if values.is_complex():
            raise TypeError(str(values.dtype))
        # Inside torch.func.grad and vmap a tensor has no memory with its numbers.
        if values.numel():
            values[(0,) * values.dim()].cpu().data_ptr()
        return values if values.dtype in TORCH_TYPES else values.float()
    except Exception as error:
        reason = str(error).partition("\n")[0][:120]
        raise _no_numbers(label, value, f"{type(error).__name__}: {reason}") from error


def _of_library(value: Any) -> Tensor:
    """An array that numpy reads, or one that lends its memory."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except Exception:
        if not hasattr(value, "__dlpack__"):
            raise
        return from_dlpack(value)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    # JAX's bfloat16 is none of numpy's own types, and a file may come from a machine with another order of bytes.
    if array.dtype.kind == "V" or not array.dtype.isnative or any(stride < 0 for stride in array.strides):
        array = array.astype(np.float32)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(array)


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
        raise ValueError(f"{label} is {type(layer).__name__}, and not numbers of (1, heads, queries, keys).")
    values = layer.make() if isinstance(layer, LayerOnDemand) else _as_tensor(layer, label)
    size = " × ".join(map(str, values.shape)) or "a single number"
    if not values.numel():
        raise ValueError(f"{label} is {size}: there is no weight in it.")
    if values.dim() == 4 and values.shape[0] != 1:
        raise ValueError(
            f"{label} is {size}, and not (1, heads, queries, keys): it holds {values.shape[0]} texts, or has its heads "
            "first, or layers. Hand over layer[:1] for the first text, layer.transpose(0, 1) if heads are "
            "first, list(layer) if it holds layers."
        )
    values = values[0] if values.dim() == 4 else values
    if values.dim() == 2:
        values = values[None]
    if values.dim() == 3 and len(values) > 1 and n_layers == 1 and len(layer.shape) == 3:
        raise ambiguous(tuple(values.shape))
    if values.dim() != 3:
        raise ValueError(f"{label} is {size}, and not (1, heads, queries, keys).")
    return values
