"""Numbers of any library, and the layers in them, as torch computes with them."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.masked import MaskedTensor

from viz.notebook.forms.foreign import read_foreign
from viz.notebook.on_demand import LayerOnDemand

TORCH_TYPES = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
)  # fmt: skip
"""Types that torch computes with everywhere; of others, such as 8 bits and truth values, float32 is made first."""
NUMPY_TYPES = {str(kind).removeprefix("torch.") for kind in (*TORCH_TYPES, torch.complex64, torch.complex128)}
"""Names of numpy's types that torch reads without a copy."""
WITH_MEMORY = ("cpu", "cuda", "mps")
"""Devices of which torch says where a tensor's numbers lie."""


def as_layers(value: Any) -> Any:
    """Return a list of layers, or of lists of them; nested lists of numbers, as JSON has them, become arrays.

    Raises:
        ValueError: a sentence, if an array is of several texts, or may be.
    """
    value = plain_tensor(value)
    if isinstance(value, tuple | list):
        return _split_array(_of_lists(value)) if _is_numbers(value) else [inner(part) for part in value]
    return _split_array(as_array(value)) if hasattr(value, "shape") else value


def plain_tensor(value: Any) -> Any:
    """Return a sparse or masked tensor of torch as a plain one, and the only text in a nested one; all else as it is.

    What a mask hides gets no weight.

    Raises:
        ValueError: a sentence, if there are several texts in it.
    """
    if not isinstance(value, Tensor):
        return value
    if isinstance(value, MaskedTensor):
        return value.to_tensor(0)
    if not value.is_nested:
        return value if value.layout == torch.strided else value.to_dense()
    texts = value.unbind()
    if len(texts) != 1:
        raise ValueError(f"A nested tensor holds {len(texts)} texts: hand over one of them, tensor.unbind()[0][None].")
    return texts[0][None]


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


def as_array(value: Any) -> Any:
    """Return the numbers of another library (pandas, TensorFlow, JAX, SciPy) as numpy's; torch's as they are."""
    return value if isinstance(value, Tensor) else read_foreign(value)


def holds_numbers(values: Tensor) -> bool:
    """Return whether there are numbers behind a tensor, and not only its size and type."""
    if values.is_meta or hasattr(values, "fake_mode") or values.device.type not in WITH_MEMORY:
        return not (values.is_meta or hasattr(values, "fake_mode"))
    try:
        return values.untyped_storage().data_ptr() != 0
    except (RuntimeError, NotImplementedError):
        return False


def _as_tensor(layer: Any) -> Tensor:
    """A layer of any library, without a copy where torch has its type.

    Raises:
        TypeError: if it holds no numbers.
    """
    if isinstance(layer, Tensor):
        values = layer.dequantize() if layer.is_quantized else layer
        return values.detach() if values.dtype in TORCH_TYPES or values.is_complex() else values.detach().float()
    array = as_array(layer)
    if array.dtype.kind in "SUMm" or (array.dtype.kind == "O" and not all(isinstance(x, Real) for x in array.flat)):
        raise TypeError(array.dtype)
    is_turned = any(stride < 0 for stride in array.strides)
    if array.dtype.name not in NUMPY_TYPES or not array.dtype.isnative or is_turned:
        array = array.astype(np.float32)  # numpy's longdouble, JAX's bfloat16, numbers from a file of another machine
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # it is only read
        return torch.from_numpy(array)


def inner(part: Any) -> Any:
    """Return a layer, or the layers of a step or a stack; nested lists of numbers become arrays."""
    part = plain_tensor(part)
    if not isinstance(part, tuple | list):
        return part
    return _of_lists(part) if _is_numbers(part) else [inner(layer) for layer in part]


def _is_numbers(value: Any) -> bool:
    while isinstance(value, tuple | list) and len(value):
        value = value[0]
    return isinstance(value, int | float)


def _split_array(array: Any) -> Any:
    """The layers of an array: (Q, K) and (1, Q, K) are one head, of more dimensions the first counts layers."""
    shape = tuple(array.shape)
    if len(shape) == 1 and getattr(array.dtype, "kind", "") == "O":
        return list(array)  # layers of numpy that may have other sizes each
    if len(shape) == 3 and shape[0] != 1:
        raise ambiguous(shape)
    if len(shape) == 5 and shape[0] == 1 < shape[1]:
        raise ValueError(
            f"{' × '.join(map(str, shape))} numbers may be {shape[1]} layers of one text or one layer of {shape[1]} "
            "texts. Hand over weights[0][:, None] if they are layers, weights[:, :1] for the first text."
        )
    if len(shape) in (2, 3):
        return [array.reshape(1, 1, *shape[-2:])]
    return [array[i : i + 1] if len(shape) == 4 else array[i] for i in range(shape[0])] if len(shape) > 3 else [array]


def ambiguous(shape: tuple[int, ...]) -> ValueError:
    """The refusal of (n, Q, K), which may be heads or texts."""
    n, size = shape[0], " × ".join(map(str, shape))
    return ValueError(
        f"{size} numbers may be {n} heads of one text or one map for each of {n} texts (nn.MultiheadAttention gives "
        "the mean of its heads). Hand over weights[None] if they are heads, weights[:1] for the first text."
    )


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
    array = as_array(layer)
    try:
        values = _as_tensor(array)
    except (TypeError, ValueError) as error:
        kind = getattr(layer, "dtype", "values")
        raise ValueError(f"{label} is {type(layer).__name__} of {kind}: these are no numbers.") from error
    _check_values(values, label, name)
    if values.dim() == 4:
        if values.shape[0] != 1 == values.shape[1]:
            n = values.shape[0]
            raise ValueError(
                f"{label} is {' × '.join(map(str, values.shape))}: this may be {n} heads of one text or one head for "
                f"each of {n} texts. Hand over layer[:, 0] of each layer if they are heads, layer[:1] for the first "
                "text."
            )
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


def _check_values(values: Tensor, label: str, name: str) -> None:
    """Refuse a layer without real numbers.

    Raises:
        ValueError: a sentence on what is there instead.
    """
    if not values.numel():
        raise ValueError(f"{label} is {' × '.join(map(str, values.shape))}: there is no weight in it.")
    if not holds_numbers(values):
        if values.is_meta:
            raise ValueError(f"The weights of {name} are on the device meta, which holds no numbers.")
        raise ValueError(
            f"{label} is {type(values).__name__} with a size and no numbers: torch follows what is computed and keeps "
            "none, as in FakeTensorMode and inside torch.func.grad and vmap. Hand over what comes out of them."
        )
    if values.is_complex():
        raise ValueError(
            f"The weights of {name} are {str(values.dtype).removeprefix('torch.')}: weights are real numbers."
        )


def name_of_kind(value: Any) -> str:
    """Name the type of a value, for sentences."""
    return "None" if value is None else type(value).__name__
