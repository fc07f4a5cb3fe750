"""Twins with attention of today: the task and recipe of :mod:`viz.models.trained.twins`, one thing changed.

``python -m tools.train today`` trains them again. Do sinks or gates take weight off the first token, does
copying need the full layer among three with the delta rule, does a latent cache learn as well?
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Any

import torch
from torch import nn

from viz.core.variants.kv_sharing import induction
from viz.core.variants.today.sinks import first_token_share
from viz.models.trained import twins
from viz.models.trained.today.modules import (
    START,
    DeltaAttention,
    GatedAttention,
    LatentAttention,
    SinkAttention,
    StandardAttention,
)
from viz.models.trained.twins import Recipe, Run

RECIPE = Recipe(d_model=64, n_heads=4, d_ff=128, length=24, longest_period=8, steps=400, measured_every=50)
"""The twins' recipe at half the width, on texts half as long, for half the steps: copying is learned in a minute."""
SEEDS = (0, 1, 2, 3, 4)
MEASURED_ON = 64
"""Fresh sequences on which heads are measured."""
MEASURED_SEED = 20_000
"""Seed of these sequences: no training reads it."""

Layers = tuple[Callable[[Any, int], nn.Module], ...]
VARIANTS: Mapping[str, Layers] = {
    "standard": (StandardAttention,) * 2,
    "sink": (SinkAttention,) * 2,
    "gate": (GatedAttention,) * 2,
    "latent": (LatentAttention,) * 2,
    "standard_4": (StandardAttention,) * 4,
    "delta_3_1": (DeltaAttention,) * 3 + (StandardAttention,),
}
"""The attention of each layer, the lowest first. The last two have four layers."""

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Heads:
    """Measures of every head, (layers, heads).

    ``first_share`` is the mean weight on the first token, ``induction`` that on what followed the present word's
    earlier mentions. Layers with the delta rule have no shares, and an empty row.
    """

    first_share: Rows
    induction: Rows


@dataclass(frozen=True, kw_only=True)
class Trained:
    """One training of a variant: its size, how it went, and its heads before and after."""

    variant: str
    parameters: int
    run: Run
    before: Heads
    after: Heads


def build(variant: str, recipe: Recipe, *, seed: int) -> Any:
    """Make an untrained twin, by transformers' own start, and put the variant's attention into its layers."""
    layers = VARIANTS[variant]
    model = twins.build(recipe.n_heads, replace(recipe, n_layers=len(layers)), seed=seed)
    model.config.use_cache = False
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for layer, module in zip(model.model.layers, layers, strict=True):
            layer.self_attn = module(layer.self_attn, recipe.n_heads)
    return model


def measure_heads(model: Any, recipe: Recipe, *, seed: int = MEASURED_SEED) -> Heads:
    """Measure what the heads of each layer do, on fresh sequences."""
    ids, _ = twins.repeated(MEASURED_ON, recipe, torch.Generator().manual_seed(seed))
    with torch.inference_mode():
        model(input_ids=ids)
    shares, copies = [], []
    for layer in model.model.layers:
        maps = layer.self_attn.weights
        is_map = not isinstance(layer.self_attn, DeltaAttention)
        scores = [induction(weights, text_ids) for weights, text_ids in zip(maps, ids, strict=True)]
        shares.append(tuple(first_token_share(maps).mean(0).tolist()) if is_map else ())
        copies.append(tuple(torch.stack(scores).mean(0).tolist()) if is_map else ())
    return Heads(first_share=tuple(shares), induction=tuple(copies))


def digest(recipe: Recipe) -> str:
    """Return the SHA-256 of all values that decide what a training becomes, beside its seed."""
    layers = {variant: [module.__name__ for module in modules] for variant, modules in VARIANTS.items()}
    sizes = [START, LatentAttention.D_LATENT, LatentAttention.D_ROPE, DeltaAttention.KERNEL]
    values = [asdict(recipe), layers, sizes, MEASURED_ON, MEASURED_SEED, twins.words()]
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@cache
def _record() -> dict[str, Any]:
    file = twins.FOLDER / "today.json"
    record: dict[str, Any] = json.loads(file.read_text("utf8")) if file.exists() else {"digest": "", "runs": []}
    return record


def recorded_digest() -> str:
    """Return the digest of the recipe that the recorded trainings followed."""
    return str(_record()["digest"])


def _read(record: dict[str, Any]) -> Trained:
    heads = {
        when: Heads(**{name: tuple(map(tuple, rows)) for name, rows in record[when].items()})
        for when in ("before", "after")
    }
    return Trained(**{**record, **heads, "run": twins.run_of(record["run"])})


@cache
def trainings() -> tuple[Trained, ...]:
    """Records of the trainings, every variant with every seed; none where nothing is recorded."""
    return tuple(map(_read, _record()["runs"]))


def forget_record() -> None:
    """Have the record read again: it was written."""
    _record.cache_clear()
    trainings.cache_clear()
