"""What every visitor begins with is computed before anybody comes: the default model's examples, in all heads."""

import gc
from collections.abc import Callable

from viz.frame import compute
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.specs import Mask, Source, View


def warm(admit: Callable[[], object] = lambda: None) -> int:
    """Load the default model and compute the Heads page of every example; all of that stays. How many there are.

    ``admit`` is called when the page that everybody begins with is there: nobody need wait for the rest.
    """
    compute.warm()
    model = compute.model(compute.DEFAULT_MODEL)
    read_by_it = [example for example in examples() if not example.model]
    for example in read_by_it:
        source = Source(kind="model", text=example.text, model=compute.DEFAULT_MODEL)
        head_grid.wall(source, Mask(), View())
        for layer in range(model.n_layers):
            heads = head_grid.shown(source, layer, Mask(), View()).values.shape[0]
            for head in range(heads):
                head_grid.head_scores(source, layer, head, Mask(), View())
        if example is read_by_it[0]:
            gc.collect()
            gc.freeze()  # before anybody comes: what visitors leave in circles must not be frozen with the rest
            admit()
    compute.models.pin()
    compute.results.pin()
    return len(read_by_it)
