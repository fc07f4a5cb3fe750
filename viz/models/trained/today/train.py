"""Twins with attention of today: the task and recipe of :mod:`viz.models.trained.twins`, one thing changed.

``python -m viz.models.trained.today.train`` trains them again. Do sinks or gates take weight off the first token, does
copying need the full layer among three with the delta rule, does a latent cache learn as well?
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Any

import torch
from torch import nn

from viz.core.variants.kv_sharing import induction
from viz.core.variants.today.sinks import first_token_share
from viz.models.trained import twins
from viz.models.trained.layer_sharing import count
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


def train(variant: str, recipe: Recipe, *, seed: int, on_step: Callable[[], Any] = lambda: None) -> Trained:
    """Train one variant on the twins' task, with the twins' recipe."""

    def make(_: int, recipe: Recipe, *, seed: int) -> Any:
        return build(variant, recipe, seed=seed)

    model, run = twins.train(recipe.n_heads, recipe, seed=seed, on_step=on_step, make=make)
    return Trained(
        variant=variant,
        parameters=count(model),
        run=run,
        before=measure_heads(build(variant, recipe, seed=seed).eval(), recipe),
        after=measure_heads(model, recipe),
    )


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
    run: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record["run"].items()}
    heads = {
        when: Heads(**{name: tuple(map(tuple, rows)) for name, rows in record[when].items()})
        for when in ("before", "after")
    }
    return Trained(**{**record, **heads, "run": Run(**run)})


@cache
def trainings() -> tuple[Trained, ...]:
    """Records of the trainings, every variant with every seed; none where nothing is recorded."""
    return tuple(map(_read, _record()["runs"]))


def save(new: Sequence[Trained], recipe: Recipe) -> None:
    """Add trainings to the record; one of the same variant and seed is replaced, and all of another recipe go."""
    old = trainings() if recorded_digest() == digest(recipe) else ()
    by_variant = {(training.variant, training.run.seed): training for training in (*old, *new)}
    order = sorted(by_variant, key=lambda key: (list(VARIANTS).index(key[0]), key[1]))
    lines = ",\n".join(json.dumps(asdict(by_variant[key])) for key in order)
    head = f'"recipe": {json.dumps(asdict(recipe))},\n"digest": "{digest(recipe)}"'
    (twins.FOLDER / "today.json").write_text(f'{{{head},\n"runs": [\n{lines}\n]}}\n', "utf8")
    _record.cache_clear()
    trainings.cache_clear()


def main() -> None:
    """Train every variant with every seed, with a progress bar, and record how it went."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    arguments, recipe = parser.parse_args(), RECIPE
    torch.set_num_threads(1)  # with more, sums are rounded in another order and the steps end elsewhere
    torch.set_flush_denormal(True)  # fast decays leave numbers near 1e-40, which take a processor five times as long
    for seed in arguments.seeds:
        for variant in arguments.variants:
            with tqdm(total=recipe.steps, desc=f"{variant}, seed {seed}") as bar:
                trained = train(variant, recipe, seed=seed, on_step=bar.update)
                bar.set_postfix(loss=trained.run.loss[-1], accuracy=trained.run.accuracy[-1])
            save([trained], recipe)


if __name__ == "__main__":
    main()
