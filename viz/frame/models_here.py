"""Which models are offered, and which of them can be had now."""

import time
from functools import lru_cache

from viz import limits
from viz.frame import compute, specs
from viz.models import registry

MOMENT = 10
"""Seconds after which the disk is asked again which models there are."""


def _available(entry: registry.Entry) -> bool:
    """In memory already (its files may be gone since), on this machine, or to be had from the hub."""
    if compute.models.holds(entry.id):
        return True
    return entry.is_here() or registry.hub().reachable


def offered() -> tuple[registry.Entry, ...]:
    """The list of models, as far as whoever runs the server wants it and has the memory; points of training last."""
    known = *registry.entries(), *registry.checkpoints()
    wanted = [entry for entry in known if not limits.MODELS or entry.trained_as in limits.MODELS]
    return *specs.local_entries(), *(entry for entry in wanted if 4 * entry.parameters <= limits.MODELS_BYTES)


@lru_cache(maxsize=1)
def _on_this_machine(_moment: int) -> frozenset[str]:
    """Names of the models that can be had; one moment, one look, which takes 3 ms."""
    return frozenset(entry.id for entry in offered() if _available(entry))


def models_here() -> dict[str, registry.Entry]:
    """The models that a visitor may choose now, by name."""
    had = _on_this_machine(int(time.monotonic() / MOMENT))
    return {entry.id: entry for entry in offered() if entry.id in had}


def to_choose_from(beside: str) -> list[str]:
    """The names of a list of models: all, but points of training only of the model that is chosen ``beside`` them."""
    had = models_here()
    family = had[beside].trained_as if beside in had else ""
    return [name for name, entry in had.items() if not entry.of or entry.of == family]
