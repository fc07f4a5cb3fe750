"""The next step's pass through its model, computed while this step is shown; its page finds it in the cache."""

import math
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from threading import Lock

from viz import limits
from viz.background import start_thread
from viz.errors import ModelError
from viz.frame import compute
from viz.frame.available_models import models_here
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.inputs import own_model
from viz.frame.queue_notice import stores, use
from viz.frame.specs import Mask, Source, View
from viz.params.session import mark_background
from viz.scheduler.fair_queue import mark_arrival
from viz.scheduler.stores import Stores

_lock = Lock()
"""At most one step is prefetched at a time, in the whole program."""


def prefetch(link: Mapping[str, str]) -> None:
    """Compute what the next step's link shows of a model's own heads in a thread, behind all that users wait for.

    While another step is being prefetched, this one is not. A parameter that the link lacks is at its default.
    """
    if link.get("source", "model") != "model":
        return
    model = link.get("model") or own_model()
    if model not in models_here():
        return
    text = link.get("text", examples()[0].text)[: limits.CHARACTERS]
    source = Source(kind="model", text=text, model=model)
    start_thread("prefetch", partial(_read, source, stores()))


def _read(source: Source, app: Stores) -> None:
    """Compute at the lowest priority, unless another step is prefetched; errors appear when it is opened."""
    if not _lock.acquire(blocking=False):
        return
    try:
        mark_arrival(math.inf)
        mark_background()
        with use(app), app.memory.active_user(math.inf), suppress(ModelError):
            compute.read(source)
            head_grid.wall(source, Mask(), View())
    finally:
        _lock.release()
