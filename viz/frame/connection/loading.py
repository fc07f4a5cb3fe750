"""What the first page does without is imported, and the model that others open on loaded, while the visitor reads it.

Pages are imported here, by one thread at a time (:mod:`viz.imports`).
"""

import sys
import time
from contextlib import suppress
from importlib import import_module
from threading import Lock, Thread
from types import ModuleType

from viz.errors import ModelError
from viz.imports import importing

_COMPUTE = "viz.frame.compute"
_MOMENT = 0.5
"""Seconds in which the answer to whoever asked for it is sent: an import holds up all other threads, and the page
would turn pale meanwhile."""
_one = Lock()
_begun: list[Thread] = []


def module(name: str) -> ModuleType:
    """A module; whoever imports one already is waited for."""
    with importing():
        return import_module(name)


def is_wanted() -> bool:
    """Whether nothing that other pages compute with is here, or on its way."""
    return _COMPUTE not in sys.modules and not _begun


def begin(*modules: str) -> None:
    """Import these modules and load the model that pages open on, in a thread of its own; once."""
    with _one:
        if is_wanted():
            _begun.append(Thread(target=_load, args=modules, name="loading", daemon=True))
            _begun[-1].start()


def _load(*modules: str) -> None:
    time.sleep(_MOMENT)
    compute = module(_COMPUTE)
    compute.warm()
    for name in modules:
        module(name)
    usual = [entry.id for entry in module("viz.frame.specs").local_entries()] or [compute.DEFAULT_MODEL]
    if usual[0] in module("viz.frame.models_here").models_here():
        with suppress(ModelError):  # the page that needs it says so
            compute.model(usual[0])
