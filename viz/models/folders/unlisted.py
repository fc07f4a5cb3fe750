"""Weights of a folder that lie under other names than ``save_pretrained`` gives them, or in another format."""

import re
from collections import defaultdict
from pathlib import Path

from viz.errors import ModelError
from viz.models.folders.files import base_name
from viz.models.folders.weights import is_pickle
from viz.models.registry import Entry

SHARD = re.compile(r"(.+)-\d+-of-(\d+)\.safetensors")
"""The name of one of several files, with how many there are."""

NOT_WEIGHTS = ("adapter_", "optimizer", "scheduler", "scaler", "training_", "rng_state", "random_states", ".")
"""Beginnings of names of files that hold other tensors than a model's; macOS puts ._NAME beside a file."""

SAVE = "model.save_pretrained('{folder}')"
JOIN = "python zero_to_fp32.py . . --safe_serialization"
OF_OLD = "from_pretrained('{folder}', from_{kind}=True).save_pretrained('{folder}')  # transformers 4"
OTHER_FORMATS = {
    "pytorch_model_fsdp_*/": "accelerate merge-weights {file} .",
    "*.distcp": "python -m torch.distributed.checkpoint.format_utils dcp_to_torch . pytorch_model.bin",
    "*/*.distcp": "python -m torch.distributed.checkpoint.format_utils dcp_to_torch {file} pytorch_model.bin",
    "zero_to_fp32.py": JOIN,
    "global_step*/": JOIN,
    "zero_pp_rank_*": JOIN,
    "*.gguf": "AutoModelForCausalLM.from_pretrained('{folder}', gguf_file='{file}').save_pretrained('{folder}')",
    "*.h5": f"AutoModel.{OF_OLD}".replace("{kind}", "tf"),
    "*.msgpack": f"AutoModel.{OF_OLD}".replace("{kind}", "flax"),
    "*.onnx": "AutoModel.from_pretrained('{base}').save_pretrained('{folder}')",
    "openvino_model.xml": "AutoModel.from_pretrained('{base}').save_pretrained('{folder}')",
    "model.bin": "AutoModel.from_pretrained('{base}').save_pretrained('{folder}')",
    **dict.fromkeys(("*.npz", "*.ckpt.index", "*.keras", "*.nemo", "mp_rank_*"), SAVE),
}
"""Files and folders of weights that are not read from a folder, and the line that makes safetensors of them."""


def find_weights(entry: Entry, folder: Path) -> list[Path]:
    """Return the files of a model that no index lists: all shards of one, or the only file; none if there is no such.

    Raises:
        ModelError: "missing", which names the shard that is; "weights", if several files could be the model's.
    """
    candidates = (file for file in folder.glob("*.safetensors") if not file.name.startswith(NOT_WEIGHTS))
    # A link may lead nowhere.
    files = sorted(file for file in candidates if file.is_file())
    shards: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for file in files:
        if match := SHARD.fullmatch(file.name):
            shards[match[1], match[2]].append(file)
    if len(shards) == 1:
        (((name, total), parts),) = shards.items()
        expected = [f"{name}-{i + 1:0{len(total)}}-of-{total}.safetensors" for i in range(int(total))]
        if absent := sorted(set(expected) - {file.name for file in parts}):
            raise ModelError("missing", model=entry.id, file=absent[0])
        return parts
    if len(files) > 1:
        raise ModelError("weights", model=entry.id, files=", ".join(file.name for file in files[:4]))
    return files


def other_pickles(folder: Path) -> list[str]:
    """Return the names of pickles that may hold a model's weights."""
    files = sorted(file for end in ("bin", "pt", "pth", "ckpt") for file in folder.glob(f"*.{end}"))
    return [file.name for file in files if not file.name.startswith(NOT_WEIGHTS) and is_pickle(file)]


def other_weights(folder: Path) -> list[str]:
    """Return the names of pickles and safetensors that may hold a model's weights."""
    tensors = sorted(file.name for file in folder.glob("*.safetensors") if file.is_file())
    return [name for name in (*other_pickles(folder), *tensors) if not name.startswith(NOT_WEIGHTS)]


def check_format(entry: Entry, folder: Path) -> None:
    """Refuse a folder whose weights are in a format that is not read from one.

    Raises:
        ModelError: "format", which names the file, and the line that converts it.
    """
    for pattern, line in OTHER_FORMATS.items():
        files = sorted(file for file in folder.glob(pattern) if pattern != "model.bin" or not is_pickle(file))
        if files:
            name = files[0].parent.name if pattern.startswith("*/") else files[0].name
            names = {"file": name, "folder": folder.name, "base": base_name(folder) or "BASE"}
            raise ModelError("format", model=entry.id, file=name, line=line.format(**names))
