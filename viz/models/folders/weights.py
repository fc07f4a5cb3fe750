"""The weights of a folder under the names that the model's own code gives them."""

import json
import pickle
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from viz.errors import ModelError
from viz.models.folders.files import corrupt, link
from viz.models.registry import Entry

WRAPPERS = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module")
"""Parts of names that torch.compile, FSDP, checkpointing and Lightning put between a module and its own name."""

MOST_OUTER = 4
"""Names of modules around a model, one in the other, that stand before its own names: module.0.auto_model."""

LORA = re.compile(r"(?:^|\.)(?:lora_\w+|trainable_tokens_delta|modules_to_save)(?:\.|$)")
"""A name of what a training with LoRA adds to a model, or has in the place of its weights."""

PART = re.compile(r"pytorch_model-\d+-of-(\d{1,5})\.bin")
"""The name of one of several files, with how many there are."""

STATES = ("state_dict", "model_state_dict", "model", "module")
"""Names under which a training keeps the weights beside other things."""

LARGEST_HEADER = 100_000_000
"""Bytes of a safetensors header; the format's own bound."""


def types_in(file: Path) -> dict[str, str]:
    """Return the type of each tensor in a safetensors file, from its header; none if it has no header."""
    try:
        with file.open("rb") as content:
            length = int.from_bytes(content.read(8), "little")
            header = json.loads(content.read(length)) if 0 < length <= LARGEST_HEADER else {}
    except (OSError, ValueError, RecursionError):
        return {}
    tensors = header if isinstance(header, dict) else {}
    return {
        name: str(tensor.get("dtype"))
        for name, tensor in tensors.items()
        if name != "__metadata__" and isinstance(tensor, dict)
    }


def map_names(names: Iterable[str], expected: Iterable[str]) -> dict[str, str]:
    """Return each name as the model has it, without wrappers and without first parts that the model lacks.

    Other modules beside the model in a file, such as a head of one's own, keep their names.
    """
    plain = {name: ".".join(part for part in name.split(".") if part not in WRAPPERS) for name in names}
    expected_names = set(expected)
    # A model without its head is saved without its first part.
    expected_names |= {name.partition(".")[2] for name in expected_names}
    prefix = _outer_prefix(plain.values(), expected_names)
    inner = {name: value.removeprefix(prefix) for name, value in plain.items()}
    return inner if len(set(inner.values())) == len(set(plain.values())) else plain


def has_own_names(names: list[str], expected: Iterable[str]) -> bool:
    """Return whether the names in a file are those that the model's own code reads."""
    return all(name == plain for name, plain in map_names(names, expected).items()) and not any(map(LORA.search, names))


def _outer_prefix(names: Iterable[str], expected_names: set[str]) -> str:
    """The first parts of names without which most of them are the model's own; the shortest such, and "" if none is.

    A second model in the file, as a teacher beside its student, has as many: then it is not known which is meant.
    """
    counts: Counter[str] = Counter()
    for name in names:
        parts = name.split(".")
        counts.update(
            ".".join((*parts[:i], ""))
            for i in range(min(len(parts), MOST_OUTER + 1))
            if ".".join(parts[i:]) in expected_names
        )
    best = min(counts, key=lambda prefix: (-counts[prefix], len(prefix)), default="")
    rivals = (n for prefix, n in counts.items() if not (prefix.startswith(best) or best.startswith(prefix)))
    return "" if max(rivals, default=0) * 2 > counts[best] else best


def read_tensors(entry: Entry, files: Iterable[Path]) -> dict[str, Tensor]:
    """Read the tensors of safetensors files, or of PyTorch's own that hold tensors and nothing else.

    Raises:
        ModelError: "pickle", of a file with more than tensors in it; "corrupt", of one that is not whole.
    """
    from transformers.modeling_utils import load_state_dict

    tensors: dict[str, Tensor] = {}
    for file in files:
        if file.suffix == ".safetensors":
            tensors |= load_state_dict(file)
        else:
            tensors |= _tensors_of(entry, file)
    return tensors


def _tensors_of(entry: Entry, file: Path) -> dict[str, Tensor]:
    if types_in(file):
        return _named_as_pickle(file)
    if not is_pickle(file):
        raise corrupt(entry, f"{file.name} is no file of PyTorch")
    try:
        content: Any = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "truncated" in str(error):
            raise corrupt(entry, f"{file.name} is not whole") from error
        raise ModelError("pickle", model=entry.id, file=file.name) from error
    except Exception as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    weights = _state_in(content)
    if not weights:
        raise ModelError("pickle", model=entry.id, file=file.name)
    return {str(name): value for name, value in weights.items() if isinstance(value, Tensor)}


def _named_as_pickle(file: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file under another name, which transformers would take for a pickle."""
    from transformers.modeling_utils import load_state_dict

    with TemporaryDirectory() as place:
        link(file, copy := Path(place) / "model.safetensors")
        tensors: dict[str, Tensor] = load_state_dict(copy)
    return tensors


def is_pickle(file: Path) -> bool:
    """Return whether a file begins as PyTorch's do: as an archive, or as a pickle."""
    try:
        with file.open("rb") as content:
            return content.read(2).startswith((b"PK", b"\x80"))
    except OSError:
        return False


def _state_in(content: Any) -> dict[Any, Any]:
    """The only dictionary with tensors in what a training saved, which may stand beside its epoch; else none."""
    for _ in range(MOST_OUTER):
        if not isinstance(content, dict) or any(isinstance(value, Tensor) for value in content.values()):
            break
        name = next((name for name in STATES if isinstance(content.get(name), dict)), None)
        inner = [value for value in content.values() if isinstance(value, dict) and value]
        content = content[name] if name else inner[0] if len(inner) == 1 else {}
    has_tensors = isinstance(content, dict) and any(isinstance(value, Tensor) for value in content.values())
    return content if has_tensors else {}


def pickled_files(entry: Entry, folder: Path) -> list[Path]:
    """Return the files of pytorch_model.bin, whole or in parts, in a folder of one's own; none anywhere else.

    Some of the parts may be missing.
    """
    if entry.path is None or entry.sha256:
        return []
    if (single_file := folder / "pytorch_model.bin").is_file():
        return [single_file]
    try:
        parts = json.loads((folder / "pytorch_model.bin.index.json").read_bytes())["weight_map"]
        names = sorted({str(name) for name in parts.values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        names = _numbered_names(folder)
    plain = all(re.fullmatch(r"pytorch_model[\w.-]*\.bin", name) for name in names)
    return [folder / name for name in names] if plain else []


def _numbered_names(folder: Path) -> list[str]:
    """The names of all parts of pytorch_model.bin, of which at least one is there."""
    totals = {match[1] for file in folder.glob("*.bin") if (match := PART.fullmatch(file.name))}
    total = next(iter(totals)) if len(totals) == 1 else "0"
    return [f"pytorch_model-{i + 1:0{len(total)}}-of-{total}.bin" for i in range(int(total))]
