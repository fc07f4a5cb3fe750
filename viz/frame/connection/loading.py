"""Imports the modules of the other pages and loads the default model while the user reads the first page.

Pages are imported here, by one thread at a time (:mod:`viz.imports`).
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from threading import Event, Lock, Thread
from types import ModuleType

from viz import limits
from viz.background import start_thread
from viz.errors import ModelError
from viz.frame import queue_notice
from viz.imports import importing
from viz.params.session import mark_background

os.environ.setdefault("OMP_NUM_THREADS", str(limits.TORCH_THREADS))
# torch.set_num_threads speaks for its own thread, and each run of the app is a new one: its first product of matrices
# would start a thread for every core, 9 ms of the 20 that a run takes. It has to be said before torch is imported.

_COMPUTE = "viz.frame.compute"
_MOMENT = 0.5
"""Seconds for sending an answer before an import starts: an import blocks all other threads, and Streamlit would show
the page as stale."""
_start_lock = Lock()
_threads: list[Thread] = []
_imported_modules: set[str] = set()
_is_requested, _is_warm = Event(), Event()
_is_warm.set()
is_asked, request_warmup = _is_requested.wait, _is_requested.set
"""Wait up to so many seconds for a request to warm up, and return True if there is one; request it."""
mark_warm = _is_warm.set
"""Mark the server as warm: pages may compute."""


def module(name: str) -> ModuleType:
    """Return a module, imported on first use; waits for other threads' imports."""
    if name not in _imported_modules or name not in sys.modules:
        with importing():
            import_module(name)
        _imported_modules.add(name)
    return sys.modules[name]


def start_cold() -> None:
    """Start cold, on a public server: runs that compute wait until it is warm (:func:`wait_until_warm`)."""
    _is_requested.clear()
    _is_warm.clear()


def wait_until_warm() -> None:
    """Wait until this server is warm, before a page that computes. First pages are rendered meanwhile."""
    if not _is_warm.is_set():
        request_warmup()
        queue_notice.wait_until_warm(_is_warm)


def is_wanted() -> bool:
    """Return True if nothing that other pages compute with is here, or on its way."""
    return _COMPUTE not in sys.modules and not _threads


def begin(*modules: str) -> None:
    """Import these modules and load the model that pages open on, in a thread of its own; once.

    On a public server that is not warm yet, request its warm-up instead.
    """
    if not _is_warm.is_set():
        start_thread("request of the warm-up", request_warmup, _MOMENT)
        return
    _begin(_load, modules)


def begin_to_import(*modules: str) -> None:
    """Import these modules now, in a thread: the page cannot be drawn without them.

    On a public server that is not warm yet, request its warm-up instead.
    """
    if _is_warm.is_set():
        _begin(_import, modules)
    else:
        request_warmup()


def _begin(load: Callable[..., object], modules: tuple[str, ...]) -> None:
    app_stores = queue_notice.stores()

    def run() -> None:
        with queue_notice.use(app_stores):
            load(*modules)

    with _start_lock:
        if is_wanted() and (thread := start_thread("loading", run)):
            _threads.append(thread)


def _import(*modules: str) -> ModuleType:
    mark_background()
    compute = module(_COMPUTE)
    compute.warm()
    for name in modules:
        module(name)
    return compute


def _load(*modules: str) -> None:
    time.sleep(_MOMENT)
    compute = _import(*modules)
    candidates = [entry.id for entry in module("viz.frame.specs").local_entries()] or [compute.DEFAULT_MODEL]
    if candidates[0] in module("viz.frame.available_models").models_here():
        # The page that needs the model reports the error.
        with suppress(ModelError):
            compute.model(candidates[0])
