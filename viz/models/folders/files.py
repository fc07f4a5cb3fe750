"""The files of a model's folder, read or refused in a sentence."""

import codecs
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from viz.errors import ModelError
from viz.models.registry import Entry

ADAPTER = "adapter_config.json"
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""First bytes of files as editors and shells of Windows write them, which transformers does not read."""

INDEX = "model.safetensors.index.json"
"""Name of the list of weights in several files; transformers wants a word on them all in it."""

POINTER = b"version https://git-lfs.github.com/spec/"
"""First bytes of what Git LFS leaves in the place of a file that it has not fetched."""

AS_USED = {
    "output_attentions", "output_hidden_states", "return_dict", "torchscript", "attn_implementation",
    "_attn_implementation", "_attn_implementation_autoset",
}  # fmt: skip
"""Keys of a configuration that say how its last user called the model, and nothing of the model."""

UNFINISHED = (".incomplete", ".crdownload", ".part", ".partial", ".download", ".aria2")
"""Ends of names of files that were not fetched to their end."""

TEXTS = ("*.json", "vocab.txt", "merges.txt")
"""Files of a folder that hold text."""


def corrupt(entry: Entry, reason: object) -> ModelError:
    """Damaged files fail in many ways; all mean the same to a user. The first line of why is enough.

    Where the files lie on the server is nobody's business.
    """
    lines = re.sub(r"(/[^/\s'\"]*)+/", "", str(reason)).splitlines()
    if len(lines) > 1 and lines[0].endswith(":"):
        lines = [lines[1].strip()]
    return ModelError("corrupt", model=entry.id, reason=lines[0][:120] if lines else type(reason).__name__)


def check_pointers(entry: Entry, files: Iterable[Path]) -> None:
    """Refuse a file that Git LFS has left in the place of a large one, as a clone without it has them.

    Raises:
        ModelError: "pointer"; "unreadable", if a file cannot be opened.
    """
    for file in files:
        try:
            with file.open("rb") as content:
                is_pointer = content.read(len(POINTER)) == POINTER
        except OSError as error:
            raise unreadable(entry, file, error) from error
        if is_pointer:
            raise ModelError("pointer", model=entry.id, file=file.name)


def missing_file(entry: Entry, file: Path) -> ModelError:
    """The sentence on a file that is not there, with the cause where its folder shows it."""
    if file.is_symlink():
        return ModelError("dangling", model=entry.id, file=file.name)
    parts = sorted(part.name for part in file.parent.glob("*") if part.name.endswith(UNFINISHED))
    if part := next((part for part in parts if part.startswith(file.name)), next(iter(parts), None)):
        return ModelError("unfinished", model=entry.id, file=file.name, part=part)
    return ModelError("missing", model=entry.id, file=file.name)


def unreadable(entry: Entry, file: Path, error: OSError) -> ModelError:
    """The sentence on a file that is there and cannot be opened."""
    return ModelError("unreadable", model=entry.id, file=file.name, reason=error.strerror or type(error).__name__)


def read_if_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def base_name(folder: Path) -> str:
    """The published model that a folder says it was made from, if that is a name and no path."""
    for file, key in (("config.json", "_name_or_path"), (ADAPTER, "base_model_name_or_path")):
        name = read_if_object(folder / file).get(key)
        if isinstance(name, str) and name and not name.startswith((".", "/", "~")) and name.count("/") <= 1:
            return name[:96]
    return ""


def read_json(entry: Entry, file: Path) -> dict[str, Any]:
    """An object out of a JSON file; ModelError "missing", "unreadable" or "corrupt" if there is none."""
    if not file.is_file():
        raise missing_file(entry, file)
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise unreadable(entry, file, error) from error
    except (ValueError, RecursionError) as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    if not isinstance(content, dict):
        raise corrupt(entry, f"{file.name}: not an object")
    return content


def family_of(config: dict[str, Any]) -> str:
    """Return a model's family: what config.json calls it, or that of its class where it has no word on it; else ""."""
    import transformers

    if family := config.get("model_type"):
        return str(family)
    architectures = config.get("architectures")
    name = architectures[0] if isinstance(architectures, list) and architectures else None
    kind = getattr(transformers, name, None) if isinstance(name, str) and name.isidentifier() else None
    return str(getattr(getattr(kind, "config_class", None), "model_type", None) or "")


@contextmanager
def readable(folder: Path) -> Iterator[Path]:
    """Give a folder as transformers reads it: itself, or a copy without byte order marks and with what it lacks.

    The copy's configuration says nothing of how the model was called.
    """
    copies = {
        file.name: content.decode(json.detect_encoding(content)).encode()
        for pattern in TEXTS
        for file in folder.glob(pattern)
        if (content := _content_of(file)).startswith(MARKS)
    }
    config = read_if_object(folder / "config.json")
    family = {} if config.get("model_type") else {"model_type": family_of(config)}
    if config and (any(family.values()) or config.keys() & AS_USED):
        settings = {name: value for name, value in config.items() if name not in AS_USED}
        copies["config.json"] = json.dumps(settings | {name: value for name, value in family.items() if value}).encode()
    index = read_if_object(folder / INDEX)
    if index and "metadata" not in index:
        copies[INDEX] = json.dumps(index | {"metadata": {}}).encode()
    if not copies:
        yield folder
        return
    with TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        copy.mkdir()
        for file in folder.iterdir():
            if file.name in copies:
                (copy / file.name).write_bytes(copies[file.name])
            elif file.is_file():
                link(file, copy / file.name)
        yield copy


def _content_of(file: Path) -> bytes:
    """The bytes of a file; none of one that cannot be opened, which is refused where it is needed."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def link(file: Path, copy: Path) -> None:
    """Have a file in a second place; Windows may allow no links."""
    try:
        copy.symlink_to(file.resolve())
    except OSError:
        shutil.copy(file, copy)
