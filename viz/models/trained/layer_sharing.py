"""The cost of sharing weights across layers: the twins' task, learned by a stack that runs one layer twice.

``python -m tools.train layer_sharing`` trains it again: *tied* is twin-g8 whose second layer is its first
(ALBERT's way, Lan et al. 2020); *single* has that layer once, so as many parameters as tied and half the compute;
*independent* is twin-g8 itself, trained as long as the others.
"""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.models.trained import twins
from viz.models.trained.twins import Recipe, Run

N_KV_HEADS = 8
STEPS = 2400
"""Three times the twins' own, to tell "later" from "never"."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """Statistics of the heads in each pass, (passes, heads): mean weights on the ``previous`` word, and on
    the word that came ``next`` last time.
    """

    previous: tuple[tuple[float, ...], ...]
    next: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """One training of a variant: its size, counted from the tensors, how it went, and what its heads do at the end."""

    variant: str
    parameters: int
    run: Run
    look: Look


def tied(n_kv_heads: int, recipe: Recipe, *, seed: int) -> Any:
    """An untrained twin whose every layer is its first one, as an object: one set of tensors, used again."""
    model = twins.build(n_kv_heads, recipe, seed=seed)
    for i in range(1, recipe.n_layers):
        model.model.layers[i] = model.model.layers[0]
    # transformers keeps a cache by the layer's own number, which all passes share.
    model.config.use_cache = False
    return model


def single(n_kv_heads: int, recipe: Recipe, *, seed: int) -> Any:
    """An untrained twin with one layer."""
    return twins.build(n_kv_heads, replace(recipe, n_layers=1), seed=seed)


VARIANTS: Mapping[str, Callable[..., Any]] = {"independent": twins.build, "tied": tied, "single": single}


def count(model: Any) -> int:
    """Parameters, counted from the tensors: one that is used twice counts once."""
    return sum(weights.numel() for weights in model.parameters())


def look(model: Any, recipe: Recipe, *, seed: int) -> Look:
    """Measure what the heads of every pass do, on fresh sequences."""
    ids, _ = twins.repeated(8, recipe, torch.Generator().manual_seed(seed))
    # The model itself keeps its attention.
    eager = deepcopy(model)
    eager.set_attn_implementation("eager")
    with torch.inference_mode():
        maps = eager(input_ids=ids, output_attentions=True, use_cache=False).attentions

    def mean(rows: list[torch.Tensor]) -> tuple[float, ...]:
        return tuple(torch.stack(rows).mean(0).tolist())

    return Look(
        previous=tuple(mean(list(weight_at_offset(weights, -1).mean(-1))) for weights in maps),
        next=tuple(
            mean([induction(m, text_ids) for m, text_ids in zip(weights, ids, strict=True)]) for weights in maps
        ),
    )


def _read(record: dict[str, Any]) -> Trained:
    run: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record["run"].items()}
    rows: dict[str, Any] = {name: tuple(map(tuple, values)) for name, values in record["look"].items()}
    parts: dict[str, Any] = {"run": Run(**run), "look": Look(**rows)}
    return Trained(**(record | parts))


@cache
def trainings() -> tuple[Trained, ...]:
    """Records of the trainings, every variant with every seed."""
    file = twins.FOLDER / "tied.json"
    return tuple(map(_read, json.loads(file.read_text("utf8"))["runs"])) if file.exists() else ()
