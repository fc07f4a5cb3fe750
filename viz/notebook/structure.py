"""The forms in which attentions are handed over, told apart by their structure: names, nesting and shapes."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from viz.notebook.generated import are_rows, are_steps, join_rows, join_steps, shape_of
from viz.notebook.on_demand import LayerOnDemand

STACKS = ("encoder", "decoder", "cross")
TORCH_TYPES = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
)  # fmt: skip
"""Types that torch computes with everywhere; of others, such as 8 bits and truth values, float32 is made first."""
NUMPY_TYPES = {str(kind).removeprefix("torch.") for kind in (*TORCH_TYPES, torch.complex64, torch.complex128)}
"""Names of numpy's types that torch reads without a copy."""
FIELDS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}


@dataclass(frozen=True, kw_only=True)
class NamedStacks:
    """Attentions by the name of their stack, and whether ``generate()`` kept them.

    Then the last token was written, and no layer has read it.
    """

    stacks: Mapping[str, Any]
    is_generated: bool = False


def by_name(attentions: Any) -> NamedStacks:
    """Name the stacks of what was handed over: a model's output, a mapping, layers, steps, or three stacks.

    Raises:
        ValueError: a sentence, if it has none of these structures.
    """
    if any(_field(attentions, field) is not None for field in ("attentions", *FIELDS.values())):
        return _of_output(attentions)
    if isinstance(attentions, Mapping):
        return _of_mapping(attentions)
    if any(hasattr(attentions, field) for field in ("attentions", *FIELDS.values())):
        return NamedStacks(stacks=stacks_in(attentions))
    arrays = _as_arrays(attentions)
    if not isinstance(arrays, tuple | list) or not any(isinstance(part, tuple | list) for part in arrays):
        if isinstance(arrays, tuple | list) and len(arrays) == 3 and all(part is None for part in arrays):
            raise ValueError("All three of (encoder, decoder, cross) are None: there is nothing to show.")
        return NamedStacks(stacks={"self": arrays})
    return _of_parts(arrays)


def stacks_in(output: Any) -> dict[str, Any]:
    """Return the attentions in what a model gave, by the names of their stacks.

    Raises:
        ValueError: if there are none.
    """
    stacks = {
        name: layers for name, field in FIELDS.items() if (layers := _field(output, field)) is not None and len(layers)
    }
    alone = _field(output, "attentions")
    if alone is not None and len(alone) and not stacks.keys() & {"encoder", "decoder"}:
        stacks = {"decoder": alone, **stacks} if stacks else {"self": alone}
    if not stacks:
        raise ValueError(
            "The model gave no attentions. It gives them when it is called with output_attentions=True, if it computes "
            'them (from_pretrained(..., attn_implementation="eager")).'
        )
    return stacks


def _field(output: Any, name: str) -> Any:
    """A field of a model's output, or of a mapping with the same names."""
    return output.get(name) if isinstance(output, Mapping) else getattr(output, name, None)


def _of_output(output: Any) -> NamedStacks:
    stacks, is_generated = dict[str, Any](), False
    for name, parts in stacks_in(output).items():
        if any(isinstance(part, tuple | list) for part in parts):
            _check_not_empty(parts, f"The {name} attentions")
            if name != "cross" and not are_steps(parts):
                raise ValueError(
                    f"The {name} attentions are {_describe_structure(parts)}: these are no steps of one text."
                )
            stacks[name], is_generated = (join_rows if name == "cross" else join_steps)(parts), True
        else:
            stacks[name] = parts
    return NamedStacks(stacks=stacks, is_generated=is_generated)


def _of_mapping(mapping: Mapping[Any, Any]) -> NamedStacks:
    """Stacks by name, or layers by number."""
    if mapping and all(name in (*STACKS, "self") for name in mapping):
        parts = {name: by_name(part) for name, part in mapping.items() if part is not None}
        stacks = {name: next(iter(part.stacks.values())) for name, part in parts.items()}
        return NamedStacks(stacks=stacks, is_generated=any(part.is_generated for part in parts.values()))
    if mapping and all(isinstance(name, int | np.integer) and name >= 0 for name in mapping):
        return NamedStacks(stacks={"self": [mapping.get(i) for i in range(int(max(mapping)) + 1)]})
    names = ", ".join(repr(name) for name in mapping) or "nothing"
    raise ValueError(f"The mapping holds {names}: name the stacks {', '.join(STACKS)}, or the layers by their numbers.")


def _of_parts(parts: Any) -> NamedStacks:
    """Steps of ``generate()``, or (encoder, decoder, cross)."""
    if are_rows(parts):  # the tokens along it are those of the rows, and of the columns
        return NamedStacks(stacks={"self": join_rows(parts)}, is_generated=True)
    if are_steps(parts):
        return NamedStacks(stacks={"self": join_steps(parts)}, is_generated=True)
    parts_by_name = dict(zip(STACKS, parts, strict=False)) if len(parts) <= 3 else {}
    stacks = {name: part for name, part in parts_by_name.items() if part is not None}
    is_generated = False
    for name, part in stacks.items():
        if isinstance(part, tuple | list) and any(isinstance(step, tuple | list) for step in part):
            stacks[name], is_generated = (join_rows if name == "cross" else join_steps)(part), True
    if not stacks or not _fit(stacks):
        _check_not_empty(list(stacks.values()) or parts, "These attentions")
        raise ValueError(
            f"These attentions are {_describe_structure(parts)}. Tuples of layers are the steps of generate(), each "
            "with the rows that follow the last ones, or (encoder, decoder, cross), whose cross maps have the "
            "decoder's rows and the encoder's columns."
        )
    return NamedStacks(stacks=stacks, is_generated=is_generated)


def _fit(stacks: Mapping[str, Any]) -> bool:
    """Return whether the maps of an encoder, a decoder and what is between them have each other's sizes."""
    sizes = {name: shape_of(part) for name, part in stacks.items()}
    if None in sizes.values():
        return False
    encoder, decoder, cross = (sizes.get(name) for name in STACKS)
    squares = all(size is None or size[0] == size[1] for size in (encoder, decoder))
    rows = cross is None or decoder is None or cross[0] == decoder[0]
    return squares and rows and (cross is None or encoder is None or cross[1] == encoder[1])


def _check_not_empty(parts: Sequence[Any], name: str) -> None:
    """Refuse tuples of layers without a single map: attention that keeps none leaves them behind.

    Raises:
        ValueError: saying how a model keeps its maps.
    """
    if all(shape_of(part) is None for part in parts):
        raise ValueError(
            f"{name} are {len(parts)} tuples of layers without a single map: no weights were kept. Models keep them if "
            'they are loaded with attn_implementation="eager" and called with output_attentions=True.'
        )


def _describe_structure(parts: Any) -> str:
    """The structure of nested tuples, measured: how many, and the sizes of their first maps."""
    sizes = [" × ".join(map(str, size)) if (size := shape_of(part)) else "none" for part in parts]
    size_list = ", ".join(sizes[:4]) + (", …" if len(sizes) > 4 else "")
    return f"{len(sizes)} tuples of layers, with maps of {size_list}"


def _as_arrays(value: Any) -> Any:
    """A list of layers, or of lists of them; nested lists of numbers, as JSON has them, become arrays."""
    if isinstance(value, tuple | list):
        return _split_array(np.asarray(value)) if _is_numbers(value) else [_inner(part) for part in value]
    return _split_array(as_array(value)) if hasattr(value, "shape") else value


def as_array(value: Any) -> Any:
    """Return the numbers of another library (pandas, TensorFlow, JAX) as numpy's; torch's as they are."""
    return value if isinstance(value, Tensor) else np.asarray(value)


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


def _inner(part: Any) -> Any:
    if not isinstance(part, tuple | list):
        return part
    return np.asarray(part) if _is_numbers(part) else [_inner(inner) for inner in part]


def _is_numbers(value: Any) -> bool:
    while isinstance(value, tuple | list) and len(value):
        value = value[0]
    return isinstance(value, int | float)


def _split_array(array: Any) -> Any:
    """The layers of an array: (Q, K) and (1, Q, K) are one head, of more dimensions the first counts layers."""
    shape = tuple(array.shape)
    if len(shape) == 3 and shape[0] != 1:
        raise ambiguous(shape)
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
    if isinstance(layer, Tensor) and layer.layout != torch.strided:
        layer = layer.to_dense()
    try:
        values = _as_tensor(layer)
    except (TypeError, ValueError) as error:
        kind = getattr(layer, "dtype", "values")
        raise ValueError(f"{label} is {type(layer).__name__} of {kind}: these are no numbers.") from error
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
