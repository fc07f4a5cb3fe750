"""The cost of sharing weights across layers: the twins' task, learned by a stack that runs one layer twice.

``python -m tools.train layer_sharing`` trains it again: *tied* is twin-g8 whose second layer is its first
(ALBERT's way, Lan et al. 2020); *single* has that layer once, so as many parameters as tied and half the compute;
*independent* is twin-g8 itself, trained as long as the others.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from viz.models.trained import twins
from viz.models.trained.twins import Recipe, Run

N_KV_HEADS = 8
VARIANTS = ("independent", "tied", "single")
STEPS = 2400
"""Three times the twins' own, to tell "later" from "never"."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """One training of a variant: its size, counted from the tensors, how it went, and what its heads do at the end.

    ``look`` has the mean weights of the heads in each pass, (passes, heads), on the "previous" word, and on the word
    that came "next" last time.
    """

    variant: str
    parameters: int
    run: Run
    look: Mapping[str, list[list[float]]]


def tied(n_kv_heads: int, recipe: Recipe, *, seed: int) -> Any:
    """An untrained twin whose every layer is its first one, as an object: one set of tensors, used again."""
    model = twins.build(n_kv_heads, recipe, seed=seed)
    for i in range(1, recipe.n_layers):
        model.model.layers[i] = model.model.layers[0]
    # transformers keeps a cache by the layer's own number, which all passes share.
    model.config.use_cache = False
    return model


@cache
def trainings() -> tuple[Trained, ...]:
    """Records of the trainings, every variant with every seed."""
    file = twins.FOLDER / "tied.json"
    runs = json.loads(file.read_text("utf8"))["runs"] if file.exists() else []
    return tuple(Trained(**record | {"run": twins.run_of(record["run"])}) for record in runs)
