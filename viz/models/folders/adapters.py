"""Adapters that a training with LoRA leaves: merged into the weights they belong to, or named for what they are."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from viz.errors import ModelError
from viz.models.folders.files import corrupt, read_json
from viz.models.folders.recognise import ADAPTER, base_name
from viz.models.folders.weights import LORA, map_names, read_tensors
from viz.models.registry import Entry, checkpoints, entries

UNSUPPORTED_PARTS = ("lora_embedding_", "lora_magnitude", "lora_bias", ".vera_", ".hada_", ".oft_", "ia3_")
"""Parts of names of adapters that are no plain product of two matrices."""


def refusal(entry: Entry, folder: Path, kind: str) -> ModelError:
    """The sentence on an adapter that is not merged here."""
    base = base_name(folder) or "BASE"
    return ModelError("adapter", model=entry.id, kind=kind, base=base, folder=folder.name)


def _config(entry: Entry, folder: Path) -> dict[str, Any]:
    """The configuration of a plain LoRA.

    Raises:
        ModelError: "adapter", if it is another kind of adapter; "missing" or "corrupt", if it cannot be read.
    """
    config = read_json(entry, folder / ADAPTER)
    kind = str(config.get("peft_type") or "unknown")
    odd = next((name for name in ("use_dora", "use_qalora", "lora_bias", "layer_replication") if config.get(name)), "")
    if kind.upper() != "LORA" or odd:
        raise refusal(entry, folder, f"{kind} {odd}".strip())
    return config


def find_base(entry: Entry, folder: Path) -> Path:
    """Return the folder of the model that an adapter belongs to, if this machine has it.

    A path counts from the adapter's folder, or is one beside it; a published model is looked for among those here.

    Raises:
        ModelError: "adapter", if it is nowhere, or the adapter is no plain LoRA.
    """
    name = str(_config(entry, folder).get("base_model_name_or_path") or "")
    places = [Path(name), folder / name, folder.parent / Path(name).name] if name else []
    local_folders = [
        e.local_folder() for e in (*entries(), *checkpoints()) if name and name in (e.id, e.hub) and not e.file
    ]
    for place in (*places, *local_folders):
        if place is not None and place != folder and (place / "config.json").is_file():
            return place
    raise refusal(entry, folder, "LoRA")


def merge_folder(weights: Mapping[str, Tensor], folder: Path, entry: Entry) -> dict[str, Tensor]:
    """Return the weights with the adapter of a folder added to them.

    Raises:
        ModelError: "adapter", "missing", "pickle" or "corrupt".
    """
    file = folder / "adapter_model.safetensors"
    if not file.is_file():
        if not (folder / "adapter_model.bin").is_file():
            raise ModelError("missing", model=entry.id, file=file.name)
        file = folder / "adapter_model.bin"
    try:
        adapter = read_tensors(entry, [file])
    except ModelError:
        raise
    except Exception as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    return merge(weights, adapter, _config(entry, folder), entry, folder)


def split_off(tensors: Mapping[str, Tensor], expected: Iterable[str], entry: Entry, folder: Path) -> dict[str, Tensor]:
    """Return weights under the model's own names; an adapter that was saved inside the model is merged.

    Raises:
        ModelError: "adapter", if there is one, and no configuration that says how it is merged.
    """
    inside = {name: tensor for name, tensor in tensors.items() if LORA.search(name)}
    outside = {name: tensor for name, tensor in tensors.items() if name not in inside}
    plain = {name: re.sub(r"\.base_layer(?=\.)", "", name) for name in outside}
    names = map_names(plain.values(), expected)
    weights = {names[plain[name]]: tensor for name, tensor in outside.items()}
    if not inside:
        return weights
    if not (folder / ADAPTER).is_file():
        raise refusal(entry, folder, "LoRA")
    return merge(weights, inside, _config(entry, folder), entry, folder)


def merge(
    weights: Mapping[str, Tensor], adapter: Mapping[str, Tensor], config: Mapping[str, Any], entry: Entry, folder: Path
) -> dict[str, Tensor]:
    r"""Return the weights with an adapter added to them.

    .. math:: W + \frac{\alpha}{r} B A

    Hu et al. 2021, section 4.1; with ``use_rslora`` it is :math:`\alpha / \sqrt r`. Modules that were trained whole
    replace the old ones.

    Raises:
        ModelError: "adapter", if a part of it belongs to no weight or has another form.
    """
    merged, pairs = dict(weights), dict[str, dict[str, Tensor]]()
    for name, tensor in adapter.items():
        plain = name.removeprefix("base_model.model.")
        if any(mark in name for mark in UNSUPPORTED_PARTS):
            raise refusal(entry, folder, "LoRA with more than two matrices")
        if match := LORA.search(plain):
            pairs.setdefault(plain[: match.start()], {})[match[1]] = tensor
        else:
            full_name = re.sub(r"\.(?:modules_to_save(?:\.[\w-]+)?|base_layer)(?=\.)", "", plain)
            merged[_find_weight_name(full_name, merged, entry, folder)] = tensor
    for module, pair in pairs.items():
        name = _find_weight_name(f"{module}.weight", merged, entry, folder)
        if pair.keys() != {"A", "B"} or pair["A"].dim() != 2:
            raise refusal(entry, folder, "LoRA of another form")
        change = _scale(config, module, pair["A"].shape[0]) * (pair["B"].float() @ pair["A"].float())
        change = change.T if config.get("fan_in_fan_out") else change
        if change.shape != merged[name].shape:
            raise refusal(entry, folder, "LoRA of another size")
        merged[name] = merged[name].to(torch.float32) + change
    return merged


def _find_weight_name(name: str, weights: Mapping[str, Tensor], entry: Entry, folder: Path) -> str:
    """A weight's name in the base model, which may lack the first part of it or have one more."""
    ends = [key for key in weights if key == name or key.endswith(f".{name}") or name.endswith(f".{key}")]
    if not ends:
        raise refusal(entry, folder, "LoRA of other layers")
    return name if name in weights else max(ends, key=len)


def _scale(config: Mapping[str, Any], module: str, rank: int) -> float:
    """Alpha / r, or alpha / sqrt(r); modules may have an alpha of their own."""
    alpha = _pattern(config.get("alpha_pattern"), module, config.get("lora_alpha", 8))
    return float(alpha) / (rank**0.5 if config.get("use_rslora") else rank)


def _pattern(patterns: Any, module: str, default: Any) -> Any:
    for pattern, value in (patterns or {}).items():
        name = str(pattern).strip("^$").replace("\\.", ".")
        if module == name or module.endswith(f".{name}"):
            return value
    return default


def is_adapter(folder: Path) -> bool:
    """Return whether a folder holds an adapter and no whole model."""
    return (folder / ADAPTER).is_file() and not any(
        (folder / name).is_file() for name in ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
    )
