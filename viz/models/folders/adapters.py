"""Adapters that a training with LoRA leaves: merged into the weights they belong to, or named for what they are."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from viz.errors import ModelError
from viz.models.folders.files import ADAPTER, base_name, check_pointers, corrupt, read_json
from viz.models.folders.weights import LORA, map_names, read_tensors
from viz.models.registry import Entry, checkpoints, entries

UNSUPPORTED_PARTS = (".vera_", ".hada_", ".oft_", "ia3_")
"""Parts of names of adapters that are no plain product of two matrices."""

UNSUPPORTED = (
    "use_qalora", "layer_replication", "target_parameters", "alora_invocation_tokens", "arrow_config", "use_bdlora",
)  # fmt: skip
"""Settings with which an adapter is another change of the model than W + s B A, or of other weights than matrices."""

CHANGES_BASE = ("pissa", "olora", "loftq", "corda", "lora_ga")
"""Ways to begin a training that take a part out of the base's own weights, which the published base still has."""

MATRIX = re.compile(r"\.lora_(?:(embedding)_)?(A|B|magnitude_vector)(?:\.[\w-]+)*?(?:\.(weight|bias))?$")
"""The end of a name of what LoRA adds to a module: its two matrices, an embedding's, DoRA's lengths, the bias of B."""

PARTS_OF_MODULE = {"A", "B", "A embedding", "B embedding", "magnitude_vector", "B bias"}
"""Parts that LoRA may have for one module."""

LONGEST_PATTERN = 200
"""Letters of a pattern of names."""

SLOW_PATTERN = re.compile(r"\)[*+?{]|(?:[*+?{].*){4}", re.DOTALL)
"""A pattern that may take minutes on a name: a repeated group, or more than three repetitions."""

KEPT_WHOLE = re.compile(r"\.(?:modules_to_save(?:\.[\w-]+)?|base_layer|original_module)(?=\.|$)")
"""The part of a name that PEFT puts between a module that is kept whole and its weights."""

TOKENS = re.compile(r"\.(?:token_adapter\.)?trainable_tokens_delta(?:\.[\w-]+)?$")
"""The end of a name of rows of an embedding table that were trained by themselves."""


def refusal(entry: Entry, folder: Path, kind: str) -> ModelError:
    """The sentence on an adapter that is not merged here."""
    return ModelError("adapter", model=entry.id, kind=kind, base=base_name(folder) or "BASE")


def _config(entry: Entry, folder: Path) -> dict[str, Any]:
    """The configuration of a plain LoRA.

    Raises:
        ModelError: "adapter", if it is another kind of adapter; "missing" or "corrupt", if it cannot be read.
    """
    config = read_json(entry, folder / ADAPTER)
    kind = str(config.get("peft_type") or "unknown")
    odd = next((name for name in UNSUPPORTED if config.get(name)), "")
    start = str(config.get("init_lora_weights")).lower()
    odd = odd or next((name for name in CHANGES_BASE if start.startswith(name)), "")
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
    check_pointers(entry, [file])
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
    plain = {name: re.sub(r"\.(?:base_layer|original_module)(?=\.)", "", name) for name in outside}
    names = map_names(plain.values(), expected)
    weights = {names[plain[name]]: tensor for name, tensor in outside.items()}
    if not inside:
        return weights
    if not (folder / ADAPTER).is_file():
        raise refusal(entry, folder, "LoRA without adapter_config.json")
    return merge(weights, inside, _config(entry, folder), entry, folder)


def merge(
    weights: Mapping[str, Tensor], adapter: Mapping[str, Tensor], config: Mapping[str, Any], entry: Entry, folder: Path
) -> dict[str, Tensor]:
    r"""Return the weights with an adapter added to them.

    .. math:: W + \frac{\alpha}{r} B A

    Hu et al. 2021, section 4.1; with ``use_rslora`` it is :math:`\alpha / \sqrt r`. With DoRA (Liu et al. 2024, eq. 5)
    each row of the sum gets the length that was trained. Modules that were trained whole, and rows of an embedding
    table that were, replace the old ones. A head of the adapter's own task, which the model has not, is left out.

    Raises:
        ModelError: "adapter", if a part of it belongs to no weight or has another form.
    """
    merged, parts = dict(weights), dict[str, dict[str, Tensor]]()
    names = {name: name.removeprefix("base_model.model.") for name in adapter}
    heads = [name for name, plain in names.items() if _is_head(plain, weights)]
    if len(heads) == len(adapter):
        raise refusal(entry, folder, "LoRA of other layers")
    for name, plain in names.items():
        if name in heads:
            continue
        tensor = adapter[name]
        if any(mark in name for mark in UNSUPPORTED_PARTS):
            raise refusal(entry, folder, "LoRA with more than two matrices")
        if match := MATRIX.search(plain):
            kind = f"{match[2]} {match[1] or ''} {match[3] if match[3] == 'bias' else ''}".split()
            parts.setdefault(plain[: match.start()], {})[" ".join(kind)] = tensor
        elif match := TOKENS.search(plain):
            weight = _find_weight_name(f"{plain[: match.start()]}.weight", merged, entry, folder)
            merged[weight] = _with_rows(
                merged[weight], tensor, _tokens(config, plain[: match.start()], entry, folder), entry, folder
            )
        else:
            merged[_find_weight_name(KEPT_WHOLE.sub("", plain), merged, entry, folder)] = tensor
    for module, part in parts.items():
        _add(merged, module, part, config, entry, folder)
    return merged


def _is_head(name: str, weights: Mapping[str, Tensor]) -> bool:
    """Return whether a name is of no module of a model, and of none of its numbered layers."""
    module = KEPT_WHOLE.sub("", MATRIX.sub("", TOKENS.sub("", name))).removesuffix(".weight").removesuffix(".bias")
    own_modules = {key.rpartition(".")[0] for key in weights}
    if any(f".{key}".endswith(f".{module}") or f".{module}".endswith(f".{key}") for key in own_modules if key):
        return False
    stacks = {re.split(r"\.\d", key)[0].rpartition(".")[2] for key in own_modules if re.search(r"\.\d", key)}
    return re.split(r"\.\d", module)[0].rpartition(".")[2] not in stacks


def fit_vocabulary(config: Any, shell: Any, weights: dict[str, Tensor]) -> None:
    """Have a configuration, and what goes with the table of words, as many rows as an adapter's table has.

    Tokens that were added before the training are rows behind the base's own; what has no number for them gets 0.
    """
    table = shell.get_input_embeddings().weight
    name = next((name for name, parameter in shell.named_parameters() if parameter is table), "")
    if name not in weights or (n := len(weights[name])) == len(table):
        return
    config.get_text_config().vocab_size = n
    is_tied = bool(getattr(config, "tie_word_embeddings", False))
    for sibling, parameter in shell.state_dict().items():
        if sibling == name or sibling not in weights or len(parameter) != len(table) or len(weights[sibling]) == n:
            continue
        if is_tied and parameter.dim() == 2:
            weights[sibling] = weights[name]
        else:
            rows = weights[sibling][:n]
            weights[sibling] = torch.cat([rows, rows.new_zeros(n - len(rows), *rows.shape[1:])])


def _add(
    merged: dict[str, Tensor],
    module: str,
    part: Mapping[str, Tensor],
    config: Mapping[str, Any],
    entry: Entry,
    folder: Path,
) -> None:
    """Add what LoRA has for one module to its weight, and to its bias."""
    name = _find_weight_name(f"{module}.weight", merged, entry, folder)
    is_embedding = part.keys() == {"A embedding", "B embedding"}
    a, b = (part.get(f"{side} embedding" if is_embedding else side) for side in "AB")
    lacks_lengths = config.get("use_dora") and "magnitude_vector" not in part
    if a is None or b is None or a.dim() != 2 or b.dim() != 2 or part.keys() - PARTS_OF_MODULE or lacks_lengths:
        raise refusal(entry, folder, "LoRA of another form")
    scale, is_turned = _scale(config, module, a.shape[0], entry, folder), is_embedding or config.get("fan_in_fan_out")
    weight, change = merged[name].to(torch.float32), scale * (b.float() @ a.float())
    change = change.T if is_turned else change
    if change.shape != weight.shape:
        raise refusal(entry, folder, "LoRA of another size")
    weight = weight + change
    if (lengths := part.get("magnitude_vector")) is not None:
        by_output = weight.T if is_turned else weight
        scaled = by_output * (lengths.float() / by_output.norm(dim=1)).reshape(-1, 1)
        weight = scaled.T if is_turned else scaled
    merged[name] = weight
    if (bias := part.get("B bias")) is not None:
        bias_name = f"{name.removesuffix('.weight')}.bias"
        if bias_name not in merged:
            raise refusal(entry, folder, "LoRA with a bias that the model has no place for")
        merged[bias_name] = merged[bias_name].to(torch.float32) + scale * bias.float()


def _tokens(config: Mapping[str, Any], module: str, entry: Entry, folder: Path) -> Any:
    """The numbers of the tokens whose rows were trained by themselves."""
    indices = config.get("trainable_token_indices")
    return _pattern(indices, module, None, entry, folder) if isinstance(indices, dict) else indices


def _with_rows(table: Tensor, rows: Tensor, tokens: Any, entry: Entry, folder: Path) -> Tensor:
    """An embedding table with the rows of these tokens replaced."""
    n_new = len(rows) if rows.dim() == 2 else 0
    is_list = isinstance(tokens, list) and all(
        type(token) is int and 0 <= token < len(table) + n_new for token in tokens
    )
    if not is_list or rows.shape != (len(tokens), table.shape[1]):
        raise refusal(entry, folder, "LoRA with trained tokens that it does not name")
    n_added = max(0, max(tokens, default=0) + 1 - len(table))
    if not set(range(len(table), len(table) + n_added)) <= set(tokens):
        raise refusal(entry, folder, "LoRA with new tokens of which it has not all")
    table = torch.cat([table.to(torch.float32), table.new_zeros(n_added, table.shape[1], dtype=torch.float32)])
    table[tokens] = rows.float()
    return table


def _find_weight_name(name: str, weights: Mapping[str, Tensor], entry: Entry, folder: Path) -> str:
    """A weight's name in the base model, which may lack the first part of it or have one more."""
    ends = [key for key in weights if key == name or key.endswith(f".{name}") or name.endswith(f".{key}")]
    if not ends:
        raise refusal(entry, folder, "LoRA of other layers")
    return name if name in weights else max(ends, key=len)


def _scale(config: Mapping[str, Any], module: str, rank: int, entry: Entry, folder: Path) -> float:
    """Alpha / r, or alpha / sqrt(r); modules may have an alpha of their own."""
    try:
        alpha = float(_pattern(config.get("alpha_pattern"), module, config.get("lora_alpha", 8), entry, folder))
    except (TypeError, ValueError) as error:
        raise refusal(entry, folder, "LoRA with an alpha that is no number") from error
    return alpha / (rank**0.5 if config.get("use_rslora") else rank)


def _pattern(patterns: Any, module: str, default: Any, entry: Entry, folder: Path) -> Any:
    """The value of the first pattern that the end of a module's name matches, from a dot on, as PEFT reads them.

    Raises:
        ModelError: "adapter", if a pattern is long, no pattern, or may take long on a name.
    """
    if not isinstance(patterns or {}, dict):
        raise refusal(entry, folder, "LoRA with a list of names in the place of patterns")
    for pattern, value in (patterns or {}).items():
        if len(pattern) > LONGEST_PATTERN or SLOW_PATTERN.search(pattern):
            raise refusal(entry, folder, "LoRA with a pattern of names that is not read here")
        try:
            is_match = re.match(rf"(.*\.)?({pattern})$", module)
        except re.error as error:
            raise refusal(entry, folder, "LoRA with a pattern of names that is none") from error
        if is_match:
            return value
    return default


def is_adapter(folder: Path) -> bool:
    """Return whether a folder holds an adapter and no whole model."""
    return (folder / ADAPTER).is_file() and not any(
        (folder / name).is_file() for name in ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
    )
