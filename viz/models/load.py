"""Load a model from files that are what they claim to be; nothing else is ever run or read."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from viz import ROOT
from viz.errors import ModelError
from viz.models import packaged
from viz.models.attention_interface import INTERFACE, install, watch
from viz.models.checks import find_non_finite, refusal_reason
from viz.models.folders import adapters, gguf, quantised
from viz.models.folders.auto_class import auto_class_of
from viz.models.folders.fetch import fetch_from_hub, fetch_from_index
from viz.models.folders.files import ADAPTER, check_pointers, corrupt, family_of, missing_file, read_json, readable
from viz.models.folders.recognise import find_model, find_tokenizer
from viz.models.folders.report import check_report, count_unread_layers
from viz.models.folders.text_part import text_config, text_weights
from viz.models.folders.tokenizer import read_tokenizer
from viz.models.folders.unlisted import check_format, find_weights, other_pickles
from viz.models.folders.weights import has_own_names, pickled_files, read_tensors, types_in
from viz.models.layers.find import find_layers, name_base, separate_shared_layers
from viz.models.layout import LoadedModel, check_family, check_settings, families
from viz.models.registry import PICTURE_FAMILIES, Entry, find
from viz.models.stream import watch_model

OPTIONS = {"trust_remote_code": False, "local_files_only": True}


def _check_sha(entry: Entry, weights: Path) -> None:
    """Refuse a file that is not the known one.

    Raises:
        ModelError: "sha", or "own_sha" of a file that comes with Headlight.
    """
    if not entry.sha256:
        return
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != entry.sha256:
        is_own = weights.is_relative_to(ROOT)
        name = weights.relative_to(ROOT).as_posix() if is_own else weights.name
        code, expected = "own_sha" if is_own else "sha", entry.sha256[:8]
        raise ModelError(code, model=entry.id, file=name, found=digest[:8], expected=expected)


def check_weights(entry: Entry, folder: Path, instead: Sequence[Path] = ()) -> list[Path]:
    """Refuse what is not a whole checkpoint, before any library opens it; return its files, or others ``instead``.

    Raises:
        ModelError: "missing" and why, "pickle", "outside", "sha", "weights" or "format".
    """
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    names = [single.name]
    if index.is_file() and not single.is_file() and (entry.file or not entry.sha256):
        parts = read_json(entry, index).get("weight_map")
        names = sorted({str(name) for name in parts.values()}) if isinstance(parts, dict) and parts else names
    for name in names:
        if not name.endswith(".safetensors"):
            raise ModelError("pickle", model=entry.id, file=name)
        # A path would lead out of the folder.
        if Path(name).parts != (Path(name).name,):
            raise ModelError("outside", model=entry.id, file=name)
    if missing := [name for name in names if not (folder / name).is_file()]:
        if instead:
            if absent := next((file for file in instead if not file.is_file()), None):
                raise missing_file(entry, absent)
            return list(instead)
        if entry.path is not None and not entry.sha256 and not index.is_file():
            if unlisted := find_weights(entry, folder):
                return unlisted
            check_format(entry, folder)
        if pickles := other_pickles(folder):
            raise ModelError("pickle", model=entry.id, file=pickles[0])
        raise missing_file(entry, folder / missing[0])
    if not entry.file:
        _check_sha(entry, single)
    return [folder / name for name in names]


def _from_package(entry: Entry, file: Path) -> tuple[Any, Any]:
    """The model and its tokenizer from the one file its package carries."""
    _check_sha(entry, file)
    try:
        parts = packaged.read(file)
        return parts.assemble(attn_implementation=INTERFACE), parts.tokenizer
    except Exception as error:
        raise corrupt(entry, error) from error


def read_checkpoint(entry: Entry, folder: Path, model_class: Any, weights: dict[str, Tensor] | None = None) -> Any:
    """Return the model of a folder that was checked, with our attention.

    ``weights`` are those of the model by its own names, where the files have others.

    Raises:
        ModelError: "corrupt", if weights are missing or no numbers; "names" and others, if they have other names or
            sizes.
    """
    options = {"use_safetensors": True} if weights is None else {"state_dict": weights}
    is_own = family_of(read_json(entry, folder / "config.json")) in families(maps_only=True)
    try:
        model, report = model_class.from_pretrained(
            folder if weights is None else None,
            attn_implementation="eager" if is_own else INTERFACE,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options | ({} if weights is None else {"config": _config(folder)}),
            **OPTIONS,
        )
    except Exception as error:
        raise corrupt(entry, error) from error
    check_report(entry, report)
    model.n_unread_layers = count_unread_layers(report, model.state_dict())
    if reason := find_non_finite(model):
        raise corrupt(entry, reason)
    return model


def _config(folder: Path) -> Any:
    """The configuration of a folder's model, or of its text part."""
    import transformers

    config = quantised.strip(transformers.AutoConfig.from_pretrained(folder, **OPTIONS))
    if text_config(config.to_dict()) is None:
        return config
    if hasattr(config, "tie_word_embeddings"):
        # transformers reads it there alone.
        config.text_config.tie_word_embeddings = config.tie_word_embeddings
    return config.text_config


def _checked_config(entry: Entry, folder: Path) -> Any:
    """As :func:`_config`.

    Raises:
        ModelError: "corrupt", if there is none.
    """
    try:
        return _config(folder)
    except Exception as error:
        raise corrupt(entry, error) from error


def _read_config(entry: Entry, folder: Path) -> dict[str, Any]:
    """The configuration of a folder's model, or of its text part, if that can be shown.

    Raises:
        ModelError: a sentence on why not.
    """
    config = read_json(entry, folder / "config.json")
    if config.get("model_type") in PICTURE_FAMILIES:
        raise ModelError("pictures", model=entry.id)
    config = text_config(plain := quantised.check_method(entry, config)) or plain
    if not (family := family_of(config) or ("text_config" in plain and str(_checked_config(entry, folder).model_type))):
        raise ModelError("no_family", model=entry.id)
    check_family(entry, family)
    config["model_type"] = family
    return quantised.check_method(entry, config)


def _shell(entry: Entry, folder: Path, auto_class: Any) -> Any:
    """The model without numbers: its class, and the names of its weights.

    Raises:
        ModelError: "corrupt", if its configuration makes no model.
    """
    try:
        with torch.device("meta"):
            return auto_class.from_config(_config(folder))
    except Exception as error:
        raise corrupt(entry, error) from error


def _model_in(entry: Entry, folder: Path) -> Any:
    """The model of a folder under the names its code gives it, with an adapter inside merged into it."""
    config = _read_config(entry, folder)
    files = check_weights(entry, folder, pickled_files(entry, folder))
    if reason := refusal_reason(config):
        raise corrupt(entry, reason)
    check_settings(entry, _checked_config(entry, folder))
    types = {name: kind for file in files if file.suffix == ".safetensors" for name, kind in types_in(file).items()}
    names, full_config = list(types), read_json(entry, folder / "config.json")
    auto_class = auto_class_of(config, names)
    is_part = text_config(full_config) is not None
    is_listed = any((folder / name).is_file() for name in ("model.safetensors", "model.safetensors.index.json"))
    is_own = (
        is_listed
        and files[0].suffix == ".safetensors"
        and not is_part
        # transformers would add what lies beside the weights, where PEFT is installed.
        and not (folder / ADAPTER).is_file()
        and quantised.is_plain(full_config, types.values())
    )
    if is_own:
        is_named = entry.path is None or not names
        if is_named or has_own_names(names, _shell(entry, folder, auto_class).state_dict()):
            return read_checkpoint(entry, folder, auto_class)
    try:
        tensors = quantised.dequantise(read_tensors(entry, files), full_config, entry)
    except ModelError:
        raise
    except Exception as error:
        raise corrupt(entry, error) from error
    shell = _shell(entry, folder, auto_class_of(config, [] if is_part else list(tensors)))
    tensors = text_weights(tensors, shell.state_dict()) if is_part else tensors
    weights, inside = adapters.split_off(tensors, shell.state_dict(), entry, folder)
    quantised.check_types(weights, shell.state_dict(), entry)
    model = read_checkpoint(entry, folder, type(shell), weights)
    return adapters.merge(model, inside, entry, folder) if inside else model


def _from_folder(entry: Entry, folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer from a folder as ``save_pretrained`` or a training writes it, or from a GGUF file."""
    folder = find_model(entry, folder)
    if file := gguf.find_file(entry, folder):
        with TemporaryDirectory() as place:
            model_class, weights = gguf.unpack(entry, file, Path(place))
            check_settings(entry, _checked_config(entry, Path(place)))
            tokenizer = read_tokenizer(entry, Path(place))
            return read_checkpoint(entry, Path(place), model_class, weights), tokenizer
    base = adapters.find_base(entry, folder) if adapters.is_adapter(folder) else folder
    with readable(base) as base_folder:
        config = _read_config(entry, base_folder)
        check_pointers(entry, check_weights(entry, base_folder, pickled_files(entry, base_folder)))
        if reason := refusal_reason(config):
            raise corrupt(entry, reason)
        with readable(find_tokenizer(entry, folder, base)) as tokenizer_folder:
            tokenizer = read_tokenizer(entry, tokenizer_folder)
        model = _model_in(entry, base_folder)
        model = adapters.merge_folder(model, folder, entry) if base != folder else model
    if config.get("is_encoder_decoder") is not False and type(model).__name__.endswith("EncoderModel"):
        # Its decoder was left out.
        model.config.is_encoder_decoder = False
    return model, tokenizer


def load(model_id: str, *, extra: tuple[Entry, ...] = ()) -> LoadedModel:
    """Load a model of the registry, or of ``extra`` (folders named by whoever runs the server), by its id or hub name.

    Only safetensors are read, and the files of known packages; no code of the model is run, and a file with a known
    SHA-256 must have it. The model is in float32, in ``eval`` mode, and never changed again: users share it.

    Raises:
        ModelError: a sentence on what is wrong. Its ``code`` is "unknown", "offline", "no_index", "wheel", "missing",
            "pickle", "sha", "family" (alone, or with what is different), "pictures" or "corrupt".
    """
    install()
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    entry = find(model_id, extra=extra)
    file = entry.packaged_file()
    if file is None and entry.published is not None and entry.local_folder() is None:
        file = fetch_from_index(entry)
    if file is not None:
        model, tokenizer = _from_package(entry, file)
    else:
        model, tokenizer = _from_folder(entry, entry.local_folder() or fetch_from_hub(entry))
    separate_shared_layers(model)
    name_base(model)
    model.config.name_or_path = entry.id
    model.eval().requires_grad_(False)
    layers = tuple(find_layers(model))
    watch(layers)
    is_packaged = file is not None
    loaded_model = LoadedModel(entry=entry, model=model, tokenizer=tokenizer, layers=layers, is_packaged=is_packaged)
    watch_model(loaded_model)
    return loaded_model
