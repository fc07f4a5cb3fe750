"""What every visitor begins with is computed before anybody comes: the examples, in all layers and heads."""

import gc

from viz.frame import compute
from viz.frame.compute import head_grid
from viz.frame.examples import examples
from viz.frame.specs import Mask, Source, View


def warm() -> int:
    """Load the default model and compute the Heads page of every example; all of that stays. How many there are."""
    compute.warm()
    model = compute.model(compute.DEFAULT_MODEL)
    for example in examples():
        source = Source(kind="model", text=example.text, model=compute.DEFAULT_MODEL)
        head_grid.wall(source, Mask(), View())
        for layer in range(model.n_layers):
            heads = head_grid.shown(source, layer, Mask(), View()).values.shape[0]
            for head in range(heads):
                head_grid.head_scores(source, layer, head, Mask(), View())
    compute.models.pin()
    compute.results.pin()
    gc.collect()
    gc.freeze()
    return len(examples())
