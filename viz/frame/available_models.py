"""The list of models, and those available now."""

import time
from collections.abc import Mapping
from functools import lru_cache

from viz import limits
from viz.frame import specs
from viz.frame.queue_notice import stores
from viz.models import registry
from viz.scheduler.stores import Stores
from viz.text import Translate

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
    """The models that can be had, by name, and whether they are here; one moment, one look, which takes 3 ms.

    Those in memory are here, though their files may be gone since. Others are to be had from the hub or the package
    index: whether that can be reached is waited for, so that the first user finds what the next one does.
    """
    on_machine = {entry.id: entry.is_here() or of.models.holds(entry.id) for entry in listed_entries()}
    return {
        entry.id: on_machine[entry.id] for entry in listed_entries() if on_machine[entry.id] or _can_be_fetched(entry)
    }


def _can_be_fetched(entry: registry.Entry) -> bool:
    return (entry.published is not None and registry.index().wait()) or (
        entry.hub is not None and registry.hub().reachable
    )


def _now() -> Mapping[str, bool]:
    return _on_this_machine(int(time.monotonic() / MOMENT), stores())


def is_here(name: str) -> bool:
    """Return True if a model can be read without fetching it."""
    return _now().get(name, False)


def is_missing(name: str) -> bool:
    """Return True for a model of the registry that cannot be read now without fetching it."""
    return not is_here(name) and name in {entry.id for entry in (*registry.entries(), *registry.checkpoints())}


def megabytes_to_fetch(name: str) -> int:
    """Return what choosing a model fetches; 0 if it is here, or cannot be had."""
    entry = None if is_here(name) else models_here().get(name)
    return round((entry.wheel_bytes / 1e6) or entry.size_mb) if entry else 0


def label_of(t: Translate, name: str) -> str:
    """Return a model's name for a control; of one that is not here, with the size of what choosing it fetches."""
    return t("choice.to_fetch", model=name, mb=mb) if (mb := megabytes_to_fetch(name)) else name


def models_here() -> dict[str, registry.Entry]:
    """The models that a user may choose now, by name."""
    had = _now()
    return {entry.id: entry for entry in listed_entries() if entry.id in had}


def list_models(beside: str) -> list[str]:
    """The names of a list of models: all, but points of training only of the model that is chosen ``beside`` them."""
    had = models_here()
    family = had[beside].trained_as if beside in had else ""
    return [name for name, entry in had.items() if not entry.of or entry.of == family]
