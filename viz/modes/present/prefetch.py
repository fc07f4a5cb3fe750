"""The next step's pass through its model, computed while this step is shown; its page finds it in the cache."""

import math
from collections.abc import Mapping
from logging import INFO, getLogger
from threading import Lock, Thread

from viz import limits
from viz.frame import compute
from viz.frame.available_models import models_here
from viz.frame.compute import head_grid
from viz.frame.connection.streamlit_compat import mark_background
from viz.frame.examples import examples
from viz.frame.inputs import own_model
from viz.frame.queue_notice import stores, use
from viz.frame.specs import Mask, Source, View
from viz.scheduler.fair_queue import mark_lowest_priority
from viz.scheduler.job import where
from viz.scheduler.stores import Stores

_log = getLogger(__name__)
_lock = Lock()
"""At most one step is prefetched at a time, in the whole program."""


def prefetch(link: Mapping[str, str]) -> None:
    """Compute what a link shows of a model's own heads in a thread, behind everything that users wait for.

    While another step is being prefetched, this one is not.

    Args:
        link: the parameters of the next step. One that is not there is at its default.
    """
    if link.get("source", "model") != "model":  # seeded heads take no time
        return
    model = link.get("model") or own_model()
    if model not in models_here():
        return
    text = link.get("text", examples()[0].text)[: limits.CHARACTERS]
    source = Source(kind="model", text=text, model=model)
    Thread(target=_read, args=(source, stores()), name="prefetch", daemon=True).start()


def _read(source: Source, app: Stores) -> None:
    """Compute at the lowest priority, unless another step is prefetched; errors appear when it is opened."""
    if not _lock.acquire(blocking=False):
        return
    try:
        mark_lowest_priority()
        mark_background()
        with use(app), app.memory.active_user(math.inf):
            compute.read(source)
            head_grid.wall(source, Mask(), View())
    except Exception as error:
        _log.log(INFO, "a step was not prefetched: %s", where(error))
    finally:
        _lock.release()
