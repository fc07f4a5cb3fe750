"""Load a model from files that are what they claim to be; nothing else is ever run or read."""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from viz.errors import ModelError
from viz.models import packaged
from viz.models.attention_interface import INTERFACE, install, watch
from viz.models.checks import not_numbers, refused, unusable
from viz.models.layout import LoadedModel, check_family, find_layers, own_layers
from viz.models.registry import PICTURE_FAMILIES, Entry, find
from viz.models.stream import watch_model

OPTIONS = {"trust_remote_code": False, "local_files_only": True}

PATTERNS = (
    "config.json",
    "generation_config.json",
    "model*.safetensors",
    "model.safetensors.index.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
)
"""What is fetched of a model on the hub: configuration, tokenizer, safetensors; no pickle, no code."""


def corrupt(entry: Entry, reason: object) -> ModelError:
    """Damaged files fail in many ways; all mean the same to a visitor. The first line of why is enough.

    Where the files lie on the server is nobody's business.
    """
    lines = re.sub(r"(/[^/\s'\"]*)+/", "", str(reason)).splitlines()
    return ModelError("corrupt", model=entry.id, reason=lines[0][:120] if lines else type(reason).__name__)


def read_json(entry: Entry, file: Path) -> dict[str, Any]:
    """An object out of a JSON file; ModelError "missing" or "corrupt" if there is none."""
    if not file.is_file():
        raise ModelError("missing", model=entry.id, file=file.name)
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    if not isinstance(content, dict):
        raise corrupt(entry, f"{file.name}: not an object")
    return content


def _check_sha(entry: Entry, weights: Path) -> None:
    """Refuse a file that is not the known one.

    Raises:
        ModelError: "sha".
    """
    if not entry.sha256:
        return
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != entry.sha256:
        raise ModelError("sha", model=entry.id, file=weights.name, found=found[:8], expected=entry.sha256[:8])


def check_weights(entry: Entry, folder: Path) -> None:
    """Refuse what is not a whole, published safetensors checkpoint, before any library opens it.

    Raises:
        ModelError: "missing", "pickle" or "sha".
    """
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    names = [single.name]
    if index.is_file() and not single.is_file() and (entry.file or not entry.sha256):
        parts = read_json(entry, index).get("weight_map")
        names = sorted({str(name) for name in parts.values()}) if isinstance(parts, dict) and parts else names
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):  # a path would lead out of the folder
            raise ModelError("pickle", model=entry.id, file=name)
    if gone := [name for name in names if not (folder / name).is_file()]:
        pickles = sorted(file.name for end in ("bin", "pt", "pth", "ckpt") for file in folder.glob(f"*.{end}"))
        if pickles:
            raise ModelError("pickle", model=entry.id, file=pickles[0])
        raise ModelError("missing", model=entry.id, file=gone[0])
    if not entry.file:
        _check_sha(entry, single)


def _auto_class(config: dict[str, Any]) -> Any:
    """The class that keeps the checkpoint's own head: a language model's, a masked model's, or none."""
    import transformers

    architecture = str(next(iter(config.get("architectures") or []), ""))
    if architecture.endswith(("ForConditionalGeneration", "MTModel")):
        return transformers.AutoModelForSeq2SeqLM
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return transformers.AutoModelForCausalLM
    return transformers.AutoModelForMaskedLM if architecture.endswith("ForMaskedLM") else transformers.AutoModel


def _download(entry: Entry) -> Path:
    """Fetch a model of the registry from the hub.

    Raises:
        ModelError: "offline", whatever the network did.
    """
    from huggingface_hub import snapshot_download

    assert entry.hub is not None
    try:
        return Path(snapshot_download(entry.hub, revision=entry.revision, allow_patterns=list(PATTERNS)))
    except Exception as error:
        raise ModelError("offline", model=entry.id) from error


def _tokenizer(folder: Path) -> Any:
    """The model's tokenizer; a fast one, which says what characters each token stands for."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **OPTIONS)
    if not tokenizer.is_fast:
        raise ValueError("the tokenizer cannot say where its tokens stand in the text")
    return tokenizer


def _from_package(entry: Entry, file: Path) -> tuple[Any, Any]:
    """The model and its tokenizer from the one file its package carries."""
    _check_sha(entry, file)
    try:
        parts = packaged.read(file)
        return parts.assemble(attn_implementation=INTERFACE), parts.tokenizer
    except Exception as error:
        raise corrupt(entry, error) from error


def read_checkpoint(entry: Entry, folder: Path, model_class: Any) -> Any:
    """The model of a folder that was checked, with our attention.

    Raises:
        ModelError: "corrupt", if weights are missing, of another size, or no numbers.
    """
    try:
        model, report = model_class.from_pretrained(
            folder,
            use_safetensors=True,
            attn_implementation=INTERFACE,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told below, in a sentence of our own
            **OPTIONS,
        )
    except Exception as error:
        raise corrupt(entry, error) from error
    # transformers fills a gap with random numbers. No page shows the pooler; anything else must be the model's own.
    if gaps := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        raise corrupt(entry, f"no weights for {gaps[0]}")
    for name, found, asked in sorted(report["mismatched_keys"]):
        raise corrupt(entry, f"{name} is {_size(found)}, config.json asks for {_size(asked)}")
    if reason := not_numbers(model):
        raise corrupt(entry, reason)
    return model


def _from_folder(entry: Entry, folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer from a folder as ``save_pretrained`` writes it."""
    config = read_json(entry, folder / "config.json")
    if config.get("model_type") in PICTURE_FAMILIES:
        raise ModelError("pictures", model=entry.id)
    check_family(entry, str(config.get("model_type")))
    check_weights(entry, folder)
    if reason := refused(config):
        raise corrupt(entry, reason)
    if not (folder / "tokenizer.json").is_file():
        raise ModelError("missing", model=entry.id, file="tokenizer.json")
    try:
        tokenizer = _tokenizer(folder)
    except Exception as error:
        raise corrupt(entry, error) from error
    model = read_checkpoint(entry, folder, _auto_class(config))
    if reason := unusable(tokenizer):
        raise corrupt(entry, reason)
    return model, tokenizer


def _size(shape: Iterable[int]) -> str:
    return " × ".join(map(str, shape))


def load(model_id: str, *, extra: tuple[Entry, ...] = ()) -> LoadedModel:
    """Load a model of the registry, or one of ``extra`` (folders named by whoever runs the server).

    Only safetensors are read, and the files of known packages; no code of the model is run, and a file with a known
    SHA-256 must have it.
    The model is in float32, in ``eval`` mode, and never changed again: visitors share it.

    Args:
        model_id: an entry's ``id`` or its name on the hub.
        extra: entries beside the registry's; they come first.

    Raises:
        ModelError: a sentence on what is wrong. Its ``code`` is "unknown", "offline", "missing", "pickle",
            "sha", "family" (alone, or with what is different), "pictures" or "corrupt".
    """
    install()
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    entry = find(model_id, extra=extra)
    if (file := entry.packaged_file()) is not None:
        model, tokenizer = _from_package(entry, file)
    else:
        model, tokenizer = _from_folder(entry, entry.local_folder() or _download(entry))
    own_layers(model)
    model.eval().requires_grad_(False)
    layers = tuple(find_layers(model))
    watch(layers)
    is_packaged = file is not None
    loaded = LoadedModel(entry=entry, model=model, tokenizer=tokenizer, layers=layers, is_packaged=is_packaged)
    watch_model(loaded)
    return loaded
