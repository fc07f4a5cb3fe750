"""Adapters that a training with LoRA leaves: merged by PEFT into the model they belong to, or named."""

import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from viz.errors import ModelError
from viz.models.checks import find_non_finite
from viz.models.folders.files import ADAPTER, base_name, check_pointers, corrupt, import_package, read_json
from viz.models.folders.weights import LORA, map_names, read_tensors
from viz.models.registry import Entry, checkpoints, entries

UNSUPPORTED = (
    "use_qalora", "layer_replication", "target_parameters", "alora_invocation_tokens", "arrow_config", "use_bdlora",
    "kasa_config", "monteclora_config",
)  # fmt: skip
"""Settings with which an adapter is another change of the model than W + s B A, or of other weights than matrices."""

CHANGES_BASE = ("pissa", "olora", "loftq", "corda", "lora_ga")
"""Ways to begin a training that take a part out of the base's own weights, which the published base still has."""

SETTINGS = ("lora_alpha", "alpha_pattern", "use_rslora", "use_dora", "lora_bias")
"""Keys of a configuration that PEFT gets; which modules have matrices, and of what rank, is read from the tensors."""

MATRIX = re.compile(
    r"\.(lora_(?:embedding_)?[AB]|lora_magnitude_vector|trainable_tokens_delta)(?:\.[\w-]+?)*?(\.bias)?(?:\.weight)?$"
)
"""The end of a name of what an adapter adds to a module, and which part of it that is."""

LONGEST_PATTERN = 200
"""Letters of a pattern of names."""

SLOW_PATTERN = re.compile(r"\)[*+?{]|(?:[*+?{].*){4}", re.DOTALL)
"""A pattern that may take minutes on a name: a repeated group, or more than three repetitions."""

KEPT_WHOLE = re.compile(
    r"\.(?:modules_to_save(?:\.(?!weight$|bias$)[\w-]+)?|base_layer|original_module|token_adapter)(?=\.|$)"
)
"""The part of a name that PEFT puts between a module that is kept whole and its weights."""


def refusal(entry: Entry, folder: Path, kind: str) -> ModelError:
    """The sentence on an adapter that is not merged here."""
    return ModelError("adapter", model=entry.id, kind=kind, base=base_name(folder) or "BASE")


def _config(entry: Entry, folder: Path) -> dict[str, Any]:
    """The configuration of a plain LoRA.

    Raises:
        ModelError: "adapter", if it is another kind of adapter, or has a pattern of names that may take long on a name;
            "missing" or "corrupt", if it cannot be read.
    """
    config = read_json(entry, folder / ADAPTER)
    kind = str(config.get("peft_type") or "unknown")
    odd = next((name for name in UNSUPPORTED if config.get(name)), "")
    start = str(config.get("init_lora_weights")).lower()
    odd = odd or next((name for name in CHANGES_BASE if start.startswith(name)), "")
    if kind.upper() != "LORA" or odd:
        raise refusal(entry, folder, f"{kind} {odd}".strip())
    patterns = config.get("alpha_pattern") or {}
    if not isinstance(patterns, dict) or any(
        len(pattern) > LONGEST_PATTERN or SLOW_PATTERN.search(pattern) for pattern in patterns
    ):
        raise refusal(entry, folder, "LoRA with a pattern of names that is not read here")
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


def merge_folder(model: Any, folder: Path, entry: Entry) -> Any:
    """Return a model with the adapter of a folder added to it.

    Raises:
        ModelError: "adapter", "package", "missing", "pickle" or "corrupt".
    """
    file = folder / "adapter_model.safetensors"
    if not file.is_file():
        if not (folder / "adapter_model.bin").is_file():
            raise ModelError("missing", model=entry.id, file=file.name)
        file = folder / "adapter_model.bin"
    check_pointers(entry, [file])
    try:
        adapter = read_tensors(entry, [file])
    except ModelError:
        raise
    except Exception as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    return merge(model, adapter, entry, folder)


def split_off(
    tensors: Mapping[str, Tensor], expected: Iterable[str], entry: Entry, folder: Path
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return weights under the model's own names, and the tensors of an adapter that was saved inside the model.

    Raises:
        ModelError: "adapter", if there is one, and no configuration that says how it is merged.
    """
    inside = {name: tensor for name, tensor in tensors.items() if LORA.search(name)}
    outside = {name: tensor for name, tensor in tensors.items() if name not in inside}
    plain = {name: re.sub(r"\.(?:base_layer|original_module)(?=\.)", "", name) for name in outside}
    names = map_names(plain.values(), expected)
    if inside and not (folder / ADAPTER).is_file():
        raise refusal(entry, folder, "LoRA without adapter_config.json")
    return {names[plain[name]]: tensor for name, tensor in outside.items()}, inside


def merge(model: Any, adapter: Mapping[str, Tensor], entry: Entry, folder: Path) -> Any:
    """Return a model with an adapter added to it by PEFT.

    Modules that were trained whole replace the old ones. Tokens that were added before the training are rows behind the
    base's own. A head of the adapter's own task, which the model has not, is left out.

    Raises:
        ModelError: "adapter", if a part of it belongs to no weight or has another form; "package", without PEFT.
    """
    config = _config(entry, folder)
    peft = import_package(entry, ADAPTER, "peft")
    names = [name for name, _ in model.named_modules() if name]
    matrices, rows, modules = dict[str, Tensor](), dict[str, Tensor](), dict[str, Tensor]()
    # What a module was before the training gives way to what it became.
    for name, tensor in sorted(adapter.items(), key=lambda item: ".original_module." not in item[0]):
        match = MATRIX.search(plain := KEPT_WHOLE.sub("", name.removeprefix("base_model.model.")))
        part, is_bias = (match[1], match[2]) if match else ("", None)
        path, _, end = (plain[: match.start()], "", "") if match else plain.rpartition(".")
        module = _find_module(path, names)
        if not module and _is_in_stack(path, names):
            raise refusal(entry, folder, "LoRA of other layers")
        if module and not part:
            modules[f"{module}.{end}"] = tensor
        elif module and part == "trainable_tokens_delta":
            rows[module] = tensor
        elif module:
            end = is_bias or (".weight" if part in ("lora_A", "lora_B") else "")
            matrices[f"{module}.{part}{end}"] = tensor
    if not (matrices or rows or modules):
        raise refusal(entry, folder, "LoRA of other layers")
    try:
        _replace(model, modules, rows, config.get("trainable_token_indices"))
        model = _merge_matrices(peft, model, matrices, config) if matrices else model
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise refusal(entry, folder, f"LoRA: {reason[:120]}") from error
    if problem := find_non_finite(model):
        raise corrupt(entry, problem)
    return model


def _find_module(path: str, names: Iterable[str]) -> str:
    """A module's name in the base model, which may lack the first part of it or have one more; "" for none."""
    ends = [name for name in names if f".{name}".endswith(f".{path}") or f".{path}".endswith(f".{name}")]
    return path if path in ends else max(ends, key=len, default="")


def _is_in_stack(path: str, names: Iterable[str]) -> bool:
    """Return whether a name is of one of a model's numbered layers: no head, which may be left out."""
    stacks = {re.split(r"\.\d", name)[0].rpartition(".")[2] for name in names if re.search(r"\.\d", name)}
    return re.split(r"\.\d", path)[0].rpartition(".")[2] in stacks


def _merge_matrices(peft: Any, model: Any, matrices: Mapping[str, Tensor], config: Mapping[str, Any]) -> Any:
    """The model with all matrices multiplied and added; a part that PEFT does not ask for, or lacks, is an error."""
    ends = (".lora_A.weight", ".lora_embedding_A")
    ranks = {name.removesuffix(end): len(matrices[name]) for name in matrices for end in ends if name.endswith(end)}
    settings = peft.LoraConfig(
        target_modules=list(ranks),
        rank_pattern={f"^{re.escape(name)}": rank for name, rank in ranks.items()},
        **{name: config[name] for name in SETTINGS if config.get(name) is not None},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = peft.get_peft_model(model, settings, low_cpu_mem_usage=True)
        state = {f"base_model.model.{name}": tensor for name, tensor in matrices.items()}
        report = peft.set_peft_model_state_dict(wrapped, state, low_cpu_mem_usage=True)
        if odd := [*report.unexpected_keys, *(name for name in report.missing_keys if "lora_" in name)]:
            raise ValueError(f"{odd[0]} has no place, or is not there")
        return wrapped.merge_and_unload(safe_merge=True)


def _replace(model: Any, modules: Mapping[str, Tensor], rows: Mapping[str, Tensor], tokens: Any) -> None:
    """Put modules that were trained whole, and rows of tokens that were, in the place of the old ones.

    The tables of words get as many rows as the adapter's have; what has no number for the new ones is 0.
    """
    table = model.get_input_embeddings()
    name = next(name for name, module in model.named_modules() if module is table)
    n_old, n = len(table.weight), len(modules.get(f"{name}.weight", table.weight))
    numbers = dict[str, list[int]]()
    for module, tensor in rows.items():
        ends = tokens.items() if isinstance(tokens, dict) else [(module, tokens)]
        # A table that is tied to the one that is named has its numbers.
        default = next(iter(numbers.values()), list[int]())
        numbers[module] = next((value for end, value in ends if f".{module}".endswith(f".{end}")), default)
        if len(numbers[module]) != len(tensor) or not all(type(i) is int and i >= 0 for i in numbers[module]):
            raise ValueError("trained tokens that it does not name")
        n = max(n, *(i + 1 for i in numbers[module]))
    new = set(numbers.get(name, ())) | set(range(len(modules.get(f"{name}.weight", ()))))
    if not all(i in new for i in range(n_old, n)):
        raise ValueError("new tokens of which it has not all")
    if n != n_old:
        model.resize_token_embeddings(n, mean_resizing=False)
        for part in filter(None, (model.get_input_embeddings(), model.get_output_embeddings())):
            for parameter in part.parameters():
                parameter.data[n_old:] = 0
    if unknown := model.load_state_dict(modules, strict=False).unexpected_keys:
        raise ValueError(f"{unknown[0]} has no place")
    for module, tensor in rows.items():
        model.get_submodule(module).weight.data[numbers[module]] = tensor.float()


def is_adapter(folder: Path) -> bool:
    """Return whether a folder holds an adapter and no whole model."""
    return (folder / ADAPTER).is_file() and not any(
        (folder / name).is_file() for name in ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
    )
