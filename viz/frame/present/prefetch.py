"""The next step's pass through its model, computed while this step is shown; its page finds it in the cache."""

from collections.abc import Callable, Mapping
from functools import partial
from logging import INFO, getLogger
from threading import Thread

from viz import limits
from viz.frame import compute
from viz.frame.choice import own_model
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.models_here import models_here
from viz.frame.specs import Mask, Source, View
from viz.scheduler.fair_queue import come_last
from viz.scheduler.job import where

_log = getLogger(__name__)


def prefetch(link: Mapping[str, str]) -> None:
    """Compute what a link shows of a model's own heads in a thread, behind everything that users wait for.

    Args:
        link: the parameters of the next step. One that is not there is at its default.
    """
    if link.get("source", "model") != "model":  # seeded heads take no time
        return
    model = link.get("model") or own_model()
    if model not in models_here():
        return
    text = link.get("text", examples()[0].text)[: limits.CHARACTERS]
    read = partial(_read, Source(kind="model", text=text, model=model))
    Thread(target=_log_errors, args=(read,), name="prefetch", daemon=True).start()


def _read(source: Source) -> None:
    compute.read(source)
    head_grid.wall(source, Mask(), View())


def _log_errors(read: Callable[[], None]) -> None:
    """Read for nobody who waits; whoever opens the step is told what goes wrong."""
    come_last()
    try:
        read()
    except Exception as error:
        _log.log(INFO, "a step was not prefetched: %s", where(error))
