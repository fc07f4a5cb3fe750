"""Load a model from files that are what they claim to be; nothing else is ever run or read."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch

from viz.models.capture import INTERFACE, install, watch
from viz.models.layout import LoadedModel, find_layers
from viz.models.registry import Entry, ModelError, find


def _check_files(entry: Entry, folder: Path) -> None:
    """Refuse what is not a whole, published safetensors checkpoint, before any library opens it."""
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise ModelError("missing", model=entry.id, file=name)
    weights = folder / "model.safetensors"
    if not weights.is_file() and not (folder / "model.safetensors.index.json").is_file():
        pickles = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth"), *folder.glob("*.ckpt")]
        if pickles:
            raise ModelError("pickle", model=entry.id, file=pickles[0].name)
        raise ModelError("missing", model=entry.id, file=weights.name)
    if entry.sha256:
        with weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != entry.sha256:
            raise ModelError("sha", model=entry.id, found=found[:8], expected=entry.sha256[:8])


def _auto_class(folder: Path) -> Any:
    """The class that keeps the checkpoint's own head: a language model's, a masked model's, or none."""
    import transformers

    architecture = (json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or [""])[0]
    if architecture.endswith("ForConditionalGeneration"):
        return transformers.AutoModelForSeq2SeqLM
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return transformers.AutoModelForCausalLM
    return transformers.AutoModelForMaskedLM if architecture.endswith("ForMaskedLM") else transformers.AutoModel


def _download(entry: Entry) -> Path:
    """Fetch a model of the registry from the hub: only its configuration, tokenizer and safetensors."""
    from huggingface_hub import snapshot_download

    assert entry.hub is not None
    try:
        files = ["*.safetensors", "*.json", "*.txt"]
        return Path(snapshot_download(entry.hub, revision=entry.revision, allow_patterns=files))
    except Exception as error:  # whatever the network does, the visitor reads one sentence
        raise ModelError("offline", model=entry.id) from error


def load(model_id: str, *, extra: tuple[Entry, ...] = ()) -> LoadedModel:
    """Load a model of the registry, or one of ``extra`` (folders named by whoever runs the server).

    Only safetensors are read, no code of the model is run, and a file with a known SHA-256 must have it.

    Raises:
        ModelError: a sentence on what is wrong: unknown, offline, missing, not safetensors, not the
            published file, corrupt, or of a family whose layout is not known.
    """
    import transformers

    transformers.utils.logging.disable_progress_bar()
    entry = find(model_id, extra=extra)
    folder = entry.local_folder() or _download(entry)
    _check_files(entry, folder)
    install()
    options = {"trust_remote_code": False, "local_files_only": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        model = _auto_class(folder).from_pretrained(
            folder, use_safetensors=True, attn_implementation=INTERFACE, dtype=torch.float32, **options
        )
    except Exception as error:  # a damaged file fails in many ways; all mean the same to a visitor
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise ModelError("corrupt", model=entry.id, reason=reason) from error
    model.eval().requires_grad_(False)
    layers = tuple(find_layers(entry, model))
    watch(layers)
    return LoadedModel(entry=entry, model=model, tokenizer=tokenizer, layers=layers)
