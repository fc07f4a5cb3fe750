"""Weights of few bits, made float32 with the scales beside them; what needs a package's own code is refused by name."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from viz.errors import ModelError
from viz.models.folders.files import corrupt
from viz.models.registry import Entry

READ = ("fp8", "mxfp4")
"""Values of ``quant_method`` that are read here."""

KEYS = {"quantization_config": "", "compression_config": "compressed-tensors", "quantization": "MLX"}
"""Keys of config.json that say how weights were quantised, and the method where the key alone says it."""

MARKS = {
    ".qweight": "GPTQ/AWQ", ".SCB": "bitsandbytes", ".absmax": "bitsandbytes", ".weight_packed": "compressed-tensors",
    ".codebooks": "AQLM", ".weight_scale_2": "NVFP4",
}  # fmt: skip
"""Ends of the names of tensors that only the package of a method reads; config.json may have lost its word on it."""

SCALES = ("_scale_inv", "_scale")
"""Suffixes of the names of FP8 weights' scales. Both kinds are multiplied with, in spite of the first one's name."""

PLAIN = ("F64", "F32", "F16", "BF16", "BOOL", "I64")
"""Types of a safetensors file whose numbers are the model's own."""


def _settings(config: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The method that a configuration names, or its text part, and what it says of it."""
    inner = config.get("text_config")
    for part in (config, inner if isinstance(inner, Mapping) else {}):
        for key, default_method in KEYS.items():
            if (value := part.get(key)) is None or value == {}:
                continue
            settings = value if isinstance(value, Mapping) else {}
            named_by_key = next((name for key, name in KEYS.items() if name and part.get(key) is not None), "unknown")
            bits = any(settings.get(name) for name in ("load_in_8bit", "load_in_4bit"))
            method = settings.get("quant_method") or default_method or ("bitsandbytes" if bits else named_by_key)
            return str(method)[:40], settings
    return None


def is_plain(config: Mapping[str, Any], types: Iterable[str]) -> bool:
    """Return whether transformers may read the files of a folder: nothing in them, or in its configuration, is of few
    bits.
    """
    return all(config.get(key) is None for key in KEYS) and _settings(config) is None and set(types) <= set(PLAIN)


def check_method(entry: Entry, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without its word on quantisation, if its weights can be read.

    Raises:
        ModelError: "quantised", which names the method.
    """
    method_settings = _settings(config)
    if method_settings is not None and method_settings[0].lower() not in READ:
        raise ModelError("quantised", model=entry.id, method=method_settings[0])
    return {key: value for key, value in config.items() if key not in KEYS}


def check_names(entry: Entry, names: Iterable[str]) -> None:
    """Refuse a file with tensors that only the package of a method reads.

    Raises:
        ModelError: "quantised".
    """
    for name in names:
        if method := next((method for end, method in MARKS.items() if name.endswith(end)), None):
            raise ModelError("quantised", model=entry.id, method=method)


def strip(config: Any) -> Any:
    """Take the word on quantisation from a configuration of transformers: weights are float32 when it sees them."""
    for part in (config, getattr(config, "text_config", None)):
        for key in KEYS:
            if getattr(part, key, None) is not None:
                delattr(part, key)
    return config


def dequantise(tensors: dict[str, Tensor], config: Mapping[str, Any], entry: Entry) -> dict[str, Tensor]:
    """Return the tensors of files as weights, those of FP8 and MXFP4 in float32; ``tensors`` is emptied meanwhile.

    Activations, which FP8 kernels round too, stay as they are.

    Raises:
        ModelError: "quantised", if a package's own code is needed; "corrupt", if codes and scales do not fit.
    """
    check_names(entry, tensors)
    _, settings = _settings(config) or ("", {})
    weights: dict[str, Tensor] = {}
    try:
        for name in sorted(tensors):
            # A scale is gone with its weight.
            if name not in tensors:
                continue
            tensor = tensors.pop(name)
            if name.endswith("_blocks") and (exponents := tensors.pop(f"{name[:-6]}scales", None)) is not None:
                weights[name.removesuffix("_blocks")] = _dequantise_experts(tensor, exponents)
            elif tensor.is_floating_point() and tensor.element_size() == 1:
                weights[name] = _scaled(name, tensor, tensors, settings)
            else:
                weights[name] = tensor
        _check_scales(weights)
    except ValueError as error:
        raise corrupt(entry, error) from error
    return weights


def _scaled(name: str, codes: Tensor, tensors: dict[str, Tensor], settings: Mapping[str, Any]) -> Tensor:
    scale_names = [key for end in SCALES if (key := f"{name}{end}") in tensors]
    if len(scale_names) != 1:
        raise ValueError(f"{name} is {str(codes.dtype).removeprefix('torch.')} and has no scale")
    size = settings.get("weight_block_size")
    is_size = isinstance(size, list | tuple) and len(size) == 2 and all(type(n) is int and n > 0 for n in size)
    try:
        return dequantise_fp8(codes, tensors.pop(scale_names[0]), size if is_size else None)
    except ValueError as error:
        raise ValueError(f"{scale_names[0]} {error}") from error


def _check_scales(weights: Mapping[str, Tensor]) -> None:
    """Find scales of weights that are no codes: to leave them out would change the weights."""
    for name in weights:
        for end in SCALES:
            if name.endswith(f"weight{end}") and name.removesuffix(end) in weights:
                raise ValueError(f"{name} is the scale of a weight that is not FP8")


def dequantise_fp8(codes: Tensor, scale: Tensor, block: Iterable[int] | None = None) -> Tensor:
    """Return FP8 weights (..., rows, columns) times the scale of their block, as float32.

    The scale is one number, or a grid of as many axes, each number for a block of so many rows and columns; the last
    ones of each axis may be fewer. Without a size the grid divides the matrix evenly.

    Raises:
        ValueError: if the grid does not fit.
    """
    if scale.dtype == torch.uint8:
        # E8M0: the exponents of powers of two; 255 is no number.
        scale = torch.exp2(scale.float() - 127).masked_fill_(scale == 255, torch.nan)
    scale = scale.float()
    if scale.numel() == 1:
        return codes.float().mul_(scale.reshape(()))
    form = f"has the form {tuple(scale.shape)} for weights of {tuple(codes.shape)}"
    if scale.dim() != codes.dim() or scale.dim() < 2 or scale.shape[:-2] != codes.shape[:-2]:
        raise ValueError(form)
    for axis, block_size in zip((-2, -1), block or (0, 0), strict=True):
        size, n = codes.shape[axis], scale.shape[axis]
        extent = block_size if block_size and -(-size // block_size) == n else size // n if n and size % n == 0 else 0
        if not extent:
            raise ValueError(form)
        scale = scale.repeat_interleave(extent, axis).narrow(axis, 0, size)
    return codes.float().mul_(scale)


def _dequantise_experts(blocks: Tensor, exponents: Tensor) -> Tensor:
    """The weights of all experts, (experts, in, out), from their blocks, (experts, out, blocks of in, 16).

    Raises:
        ValueError: if blocks and exponents do not fit.
    """
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    if blocks.dim() != 4 or blocks.shape[:-1] != exponents.shape or {blocks.dtype, exponents.dtype} != {torch.uint8}:
        raise ValueError(f"MXFP4 blocks {tuple(blocks.shape)} do not fit scales {tuple(exponents.shape)}")
    weights: Tensor = convert_moe_packed_tensors(blocks, exponents, dtype=torch.float32)
    return weights


def check_types(weights: Mapping[str, Tensor], expected: Mapping[str, Tensor], entry: Entry) -> None:
    """Refuse whole numbers in the place of weights: they are codes, and nothing says what for.

    Raises:
        ModelError: "quantised".
    """
    for name, tensor in weights.items():
        is_weight = expected[name].is_floating_point() if name in expected else name.endswith(".weight")
        if is_weight and not tensor.is_floating_point():
            raise ModelError("quantised", model=entry.id, method=f"{name}: {str(tensor.dtype).removeprefix('torch.')}")
