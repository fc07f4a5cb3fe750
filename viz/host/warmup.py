"""Warm-up: compute the example that the first page shows, in all heads, before the first user."""

import gc

from viz.frame import compute
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.specs import Mask, Source, View
from viz.params.session import mark_background


def warm() -> None:
    """Load the default model, compute the Heads page of the first example, and pin its results.

    The other examples are computed when they are first chosen: each takes as long as a sentence of a user's own.
    """
    mark_background()
    compute.warm()
    source = Source(kind="model", text=examples()[0].text, model=compute.DEFAULT_MODEL)
    head_grid.wall(source, Mask(), View())
    for layer in range(compute.model(compute.DEFAULT_MODEL).n_layers):
        heads = head_grid.layer_maps(source, layer, Mask(), View()).values.shape[0]
        for head in range(heads):
            head_grid.head_scores(source, layer, head, Mask(), View())
    gc.collect()
    # This comes before the first user, whose reference cycles must stay collectable.
    gc.freeze()
    compute.models().pin()
    compute.results().pin()
