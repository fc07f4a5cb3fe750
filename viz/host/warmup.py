"""Warm-up: compute the default model's examples in all heads before the first user."""

import gc
import time
from collections.abc import Callable

from viz.frame import compute
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.queue_notice import stores
from viz.frame.specs import Mask, Source, View
from viz.params.session import mark_background

MOMENT, PATIENCE = 0.1, 3.0
"""Seconds between two checks for running pages, and seconds after which the warm-up continues beside them."""


def warm(admit: Callable[[], object] = lambda: None) -> int:
    """Load the default model, compute the Heads page of every example and pin the results; return their number.

    ``admit`` is called after the first example, which the first page shows: users need not wait for the rest.
    """
    mark_background()
    compute.warm()
    model = compute.model(compute.DEFAULT_MODEL)
    read_by_it = [example for example in examples() if not example.model]
    for example in read_by_it:
        source = Source(kind="model", text=example.text, model=compute.DEFAULT_MODEL)
        head_grid.wall(source, Mask(), View())
        for layer in range(model.n_layers):
            heads = head_grid.layer_maps(source, layer, Mask(), View()).values.shape[0]
            for head in range(heads):
                head_grid.head_scores(source, layer, head, Mask(), View())
        if example is read_by_it[0]:
            gc.collect()
            # This comes before the first user, whose reference cycles must stay collectable.
            gc.freeze()
            admit()
            _yield_to_pages()
    compute.models().pin()
    compute.results().pin()
    return len(read_by_it)


def _yield_to_pages() -> None:
    """Serve users who wait for the first example before computing the next."""
    until, pages = time.monotonic() + PATIENCE, stores().pages
    time.sleep(MOMENT)
    while (pages.working or pages.waiting) and time.monotonic() < until:
        time.sleep(MOMENT)
