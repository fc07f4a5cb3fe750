"""Find the folder of a model, its tokenizer and its base inside the folder that was named."""

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any

from viz.errors import ModelError
from viz.models.folders.files import ADAPTER, base_name, missing_file, read_if_object
from viz.models.folders.unlisted import check_format, other_weights
from viz.models.registry import Entry

SENTENCEPIECE = ("source.spm", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "spm.model")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", *SENTENCEPIECE)
"""Files of which a folder with a tokenizer has at least one."""

OTHER_TOKENIZERS = ("tekken.json", "*.tiktoken", "*.tiktoken.model", "bpe.codes")
"""Tokenizers of other libraries: mistral-common, tiktoken, fastBPE."""

POOLING = {"word_embedding_dimension", "in_features"}
"""Keys of the configuration of a pooling or a dense part."""

AS_SAVED = ("model.safetensors", "model-", "pytorch_model")
"""Beginnings of names of weights beside which a published model has a config.json."""

WITHOUT_FILES = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")
"""Tokenizers of letters or bytes, which have no vocabulary to keep."""

MOST_FOLDERS = 512
"""Of a folder that are looked through."""

MOST_PARTS = 8
"""Of the parts of a folder that a sentence names."""


def find_model(entry: Entry, folder: Path) -> Path:
    """Return the folder with config.json or an adapter: this one, or the only part, or part of a part, that has one.

    A file of a folder stands for the folder, and a folder of the hub's cache for the snapshot that it calls main.

    Raises:
        ModelError: "parts", which names them, if several parts are models; "no_folder", "unreadable", "format",
            "lone_weights" or "missing" and why, if there is no model.
    """
    try:
        is_there = folder.exists()
        folder = folder.parent if folder.is_file() else _snapshot(folder)
        next(folder.iterdir(), None)
    except PermissionError as error:
        raise ModelError("unreadable", model=entry.id, file=folder.name, reason=error.strerror) from error
    # The text may be no path at all.
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        raise ModelError("no_folder", model=entry.id)
    if _has_model(folder):
        return folder
    parts = _models_in(folder) or [model for part in _folders_in(folder) for model in _models_in(part)]
    parts = [part for part in parts if not _is_pooling(part)] or parts
    if module_name := _first_module(folder):
        parts = [part for part in parts if part.name == module_name] or parts
    if len(parts) == 1:
        return _snapshot(parts[0])
    if parts:
        names = [str(part.relative_to(folder)) for part in parts[:MOST_PARTS]]
        more = f", and {len(parts) - MOST_PARTS} more" if len(parts) > MOST_PARTS else ""
        raise ModelError("parts", model=entry.id, parts=", ".join(names) + more, first=names[0])
    check_format(entry, folder)
    for place in (folder, *_folders_in(folder)):
        if file := next((file for file in other_weights(place) if not file.startswith(AS_SAVED)), None):
            raise ModelError("lone_weights", model=entry.id, file=file, folder=place.name)
    raise missing_file(entry, folder / "config.json")


def _folders_in(folder: Path) -> list[Path]:
    try:
        paths = sorted(islice((path for path in folder.iterdir() if not path.name.startswith(".")), MOST_FOLDERS))
        return [path for path in paths if path.is_dir()]
    except OSError:
        return []


def _models_in(folder: Path) -> list[Path]:
    return [part for part in _folders_in(folder) if _has_model(_snapshot(part))]


def _snapshot(folder: Path) -> Path:
    """Return the snapshot of a folder of the hub's cache; another folder as it is."""
    snapshots = folder / "snapshots"
    try:
        commit = (folder / "refs" / "main").read_text("utf-8").strip()
    except (OSError, ValueError):
        return folder
    return snapshots / commit if re.fullmatch(r"\w+", commit) and (snapshots / commit).is_dir() else folder


def _has_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("config.json", ADAPTER))


def _is_pooling(folder: Path) -> bool:
    """Return whether a folder is a later part of a model of sentence-transformers, which has a config.json too."""
    config = _json(folder / "config.json")
    return isinstance(config, dict) and bool(POOLING & config.keys()) and "model_type" not in config


def _first_module(folder: Path) -> str:
    """The part of a folder of sentence-transformers that holds the transformer, as modules.json says."""
    modules = _json(folder / "modules.json")
    module_list = modules if isinstance(modules, list) else []
    return next((str(module.get("path", "")) for module in module_list if isinstance(module, dict)), "")


def find_tokenizer(entry: Entry, folder: Path, base: Path) -> Path:
    """Return the folder with the tokenizer: the model's, the one around a step of a training, or an adapter's base.

    Raises:
        ModelError: "tokenizer", with the line that saves one there; "tokenizer_format" or "slow_class", if there is one
            of another library or kind.
    """
    is_part = entry.path is not None and (folder.name.startswith("checkpoint-") or folder != entry.path)
    between = [place for place in folder.parents if entry.path in (place, *place.parents)]
    for place in (folder, *((folder.parent, *between) if is_part else ()), base):
        if any((place / name).is_file() for name in TOKENIZERS):
            return place
    if (kind := read_if_object(folder / "tokenizer_config.json").get("tokenizer_class")) in WITHOUT_FILES:
        raise ModelError("slow_class", model=entry.id, kind=kind)
    for pattern in OTHER_TOKENIZERS:
        if file := next(folder.glob(pattern), None):
            raise ModelError("tokenizer_format", model=entry.id, file=file.name)
    raise ModelError("tokenizer", model=entry.id, base=base_name(folder) or "NAME", folder=folder.name)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
