"""GGUF files in a folder of one's own: read by transformers, after a look at their header."""

from math import prod
from pathlib import Path

from torch import Tensor

from viz.errors import ModelError
from viz.models.checks import refusal_reason
from viz.models.folders.files import corrupt, import_package
from viz.models.layout import check_family
from viz.models.packaged.gguf import header
from viz.models.registry import Entry

OPTIONS = {"trust_remote_code": False, "local_files_only": True}
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gemma3_text")
"""Families of whose files transformers drops nothing but what is looked for here."""

CUTS = (
    "default", "gpt-2", "phi-2", "mpt", "olmo", "llama3", "llama-v3", "llama-bpe", "falcon3", "tekken", "qwen2",
    "deepseek-r1-qwen", "gpt-4o", "llama4",
)  # fmt: skip
"""Ways to cut a text before pairs are merged that transformers 5.24 follows; all others it cuts as GPT-2 does."""

NO_MODELS = ("mmproj", "._")
"""Beginnings of names of files that hold no language model: a tower for pictures, a shadow of macOS."""


def find_file(entry: Entry, folder: Path) -> Path | None:
    """Return the GGUF file that was named, or the only one in a folder without other weights.

    Raises:
        ModelError: "parts", which names them, if there are several; "format", if they are parts of one.
    """
    files = sorted(file for file in folder.glob("*.gguf") if not file.name.startswith(NO_MODELS))
    if entry.path is not None and entry.path.suffix == ".gguf" and entry.path.is_file():
        files = [entry.path]
    elif any(folder.glob("*.safetensors")) or any(folder.glob("pytorch_model*.bin")):
        return None
    if files and "-of-0" in files[0].name:
        line = f"llama-gguf-split --merge {files[0].name} {folder.name}.gguf"
        raise ModelError("format", model=entry.id, file=files[0].name, line=line)
    if len(files) > 1:
        names = [file.name for file in files[:4]]
        raise ModelError("parts", model=entry.id, parts=", ".join(names), first=names[0])
    return files[0] if files else None


def _refusal(entry: Entry, file: Path, reason: str) -> ModelError:
    """The sentence on a file that would be another model here, with the line that writes the published one."""
    line = f"AutoModelForCausalLM.from_pretrained('BASE').save_pretrained('{file.parent.name}')"
    return ModelError("format", model=entry.id, file=f"{file.name} ({reason})", line=line)


def unpack(entry: Entry, file: Path, place: Path) -> tuple[type, dict[str, Tensor]]:
    """Write a file's configuration and tokenizer into a folder; return the model's class, and its weights in float32.

    Raises:
        ModelError: "package"; "format", if the file has more than transformers makes a model of; "corrupt".
    """
    import_package(entry, file.name, "gguf")
    import_package(entry, file.name, "accelerate")
    import torch
    import transformers

    try:
        metadata, tensors, _ = header(file)
        config = transformers.AutoConfig.from_pretrained(file.parent, gguf_file=file.name, **OPTIONS)
        check_family(entry, config.model_type)
        # The scale of queries is in no file: that of Gemma 3 27B is another than transformers' default.
        scale = getattr(config, "query_pre_attn_scalar", None)
        if config.model_type not in FAMILIES or scale not in (None, config.head_dim):
            raise _refusal(entry, file, config.model_type)
        if reason := refusal_reason(config.to_dict()):
            raise ValueError(reason)
        options = {"gguf_file": file.name, "config": config, "output_loading_info": True}
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=torch.float32, **options, **OPTIONS
        )
        has_own = (file.parent / "tokenizer.json").is_file()
        source = {} if has_own else {"gguf_file": file.name}
        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **source, **OPTIONS)
        tokenizer("a \U0010fffd")
    except ModelError:
        raise
    except Exception as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    sizes = {name: prod(shape) for name, shape, *_ in tensors}
    n_read, n_there = sum(weight.numel() for weight in model.parameters()), sum(sizes.values())
    lost = [*sorted(report["missing_keys"])]
    lost += [name for name in metadata if ".rope.scaling." in name and metadata[name] not in ("none", 1.0)]
    if n_read not in (n_there, n_there - sizes.get("output.weight", 0)):
        lost.append(f"{n_there} numbers, of which transformers reads {n_read}")
    if not has_own and metadata.get("tokenizer.ggml.pre", "default") not in CUTS:
        lost.append(f"tokenizer.ggml.pre {metadata['tokenizer.ggml.pre']!r}, without a tokenizer.json beside it")
    if lost:
        raise _refusal(entry, file, lost[0])
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return type(model), dict(model.state_dict())
