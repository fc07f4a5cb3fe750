"""Twins with attention of today: the task and recipe of :mod:`viz.models.trained.twins`, one thing changed.

``python -m viz.models.trained.today.train`` trains them again. Do sinks or gates take weight off the first token, does
copying need the full layer among three with the delta rule, does a latent cache learn as well?
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from statistics import mean, stdev
from typing import Any

import torch
from torch import nn

from viz.core.variants.kv_sharing import induction
from viz.core.variants.today.sinks import first_token_share
from viz.models.trained import twins
from viz.models.trained.layer_sharing import count
from viz.models.trained.today.modules import (
    DeltaAttention,
    GatedAttention,
    LatentAttention,
    SinkAttention,
    StandardAttention,
)
from viz.models.trained.twins import Recipe, Run

MEASURED_ON = 64
"""Fresh sequences on which heads are measured."""

Layers = tuple[Callable[[Any, int], nn.Module], ...]
VARIANTS: Mapping[str, Layers] = {
    "standard": (StandardAttention,) * 2,
    "sink": (SinkAttention,) * 2,
    "gate": (GatedAttention,) * 2,
    "latent": (LatentAttention,) * 2,
    "standard_4": (StandardAttention,) * 4,
    "delta_3_1": (DeltaAttention,) * 3 + (StandardAttention,),
    "delta_4": (DeltaAttention,) * 4,
}
"""The attention of each layer, the lowest first. The last three have four layers."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """One training of a variant: its size, how it went, and its heads at the end, (layers, heads).

    ``first_share`` is the mean weight on the first token, ``induction`` that on what followed the present word's
    earlier mentions. Layers with the delta rule have no shares, and an empty row.
    """

    variant: str
    parameters: int
    run: Run
    first_share: tuple[tuple[float, ...], ...]
    induction: tuple[tuple[float, ...], ...]


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


def measure_heads(model: Any, recipe: Recipe, *, seed: int) -> dict[str, tuple[tuple[float, ...], ...]]:
    """Measure what the heads of each layer do, on fresh sequences."""
    ids, _ = twins.repeated(MEASURED_ON, recipe, torch.Generator().manual_seed(seed))
    with torch.inference_mode():
        model(input_ids=ids)
    rows_by_measure: dict[str, list[tuple[float, ...]]] = {"first_share": [], "induction": []}
    for layer in model.model.layers:
        maps = layer.self_attn.weights
        is_map = not isinstance(layer.self_attn, DeltaAttention)
        copies = [induction(weights, text_ids) for weights, text_ids in zip(maps, ids, strict=True)]
        rows_by_measure["first_share"].append(tuple(first_token_share(maps).mean(0).tolist()) if is_map else ())
        rows_by_measure["induction"].append(tuple(torch.stack(copies).mean(0).tolist()) if is_map else ())
    return {name: tuple(rows) for name, rows in rows_by_measure.items()}


def train(variant: str, recipe: Recipe, *, seed: int, on_step: Callable[[], Any] = lambda: None) -> Trained:
    """Train one variant on the twins' task, with the twins' recipe."""

    def make(_: int, recipe: Recipe, *, seed: int) -> Any:
        return build(variant, recipe, seed=seed)

    model, run = twins.train(recipe.n_heads, recipe, seed=seed, on_step=on_step, make=make)
    heads = measure_heads(model, recipe, seed=20_000)
    return Trained(variant=variant, parameters=count(model), run=run, **heads)


def _read(record: dict[str, Any]) -> Trained:
    run: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record["run"].items()}
    rows: dict[str, Any] = {name: tuple(map(tuple, record[name])) for name in ("first_share", "induction")}
    return Trained(**(record | rows | {"run": Run(**run)}))


@cache
def trainings() -> tuple[Trained, ...]:
    """Records of the trainings, every variant with every seed; none where nothing is recorded."""
    file = twins.FOLDER / "today.json"
    return tuple(map(_read, json.loads(file.read_text("utf8"))["runs"])) if file.exists() else ()


def save(new: Sequence[Trained], recipe: Recipe) -> None:
    """Add trainings to the record; one of the same variant and seed is replaced."""
    by_variant = {(training.variant, training.run.seed): training for training in (*trainings(), *new)}
    order = sorted(by_variant, key=lambda key: (list(VARIANTS).index(key[0]), key[1]))
    lines = ",\n".join(json.dumps(asdict(by_variant[key])) for key in order)
    head = json.dumps(asdict(recipe))
    (twins.FOLDER / "today.json").write_text(f'{{"recipe": {head},\n"runs": [\n{lines}\n]}}\n', "utf8")
    trainings.cache_clear()


def summarise(variant: str, runs: Sequence[Trained]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation over seeds: loss, accuracy, the mean share on the first token over all heads
    of softmax layers, and the induction of the best head; NaN where a variant has no such head, or one seed.
    """
    matching = [training for training in runs if training.variant == variant]

    def spread(values: list[float]) -> tuple[float, float]:
        return mean(values) if values else float("nan"), stdev(values) if len(values) > 1 else float("nan")

    shares = [[share for row in training.first_share for share in row] for training in matching]
    copies = [[score for row in training.induction for score in row] for training in matching]
    return {
        "loss": spread([training.run.loss[-1] for training in matching]),
        "accuracy": spread([training.run.accuracy[-1] for training in matching]),
        "first_share": spread([mean(heads) for heads in shares if heads]),
        "induction": spread([max(heads) for heads in copies if heads]),
    }


def main() -> None:
    """Train every variant with every seed, with a progress bar, and record how it went."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    arguments, recipe = parser.parse_args(), Recipe()
    torch.set_num_threads(1)  # with more, sums are rounded in another order and 800 steps end elsewhere
    torch.set_flush_denormal(True)  # fast decays leave numbers near 1e-40, which take a processor five times as long
    for seed in arguments.seeds:
        for variant in arguments.variants:
            with tqdm(total=recipe.steps, desc=f"{variant}, seed {seed}") as bar:
                trained = train(variant, recipe, seed=seed, on_step=bar.update)
                bar.set_postfix(loss=trained.run.loss[-1], accuracy=trained.run.accuracy[-1])
            save([trained], recipe)


if __name__ == "__main__":
    main()
