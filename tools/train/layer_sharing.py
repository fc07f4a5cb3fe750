"""Train the twins that share a layer: ``python -m tools.train layer_sharing``."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from typing import Any

import torch

from tools.train.loop import train_each, write_record
from tools.train.twins import train as train_twin
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.models.trained import layer_sharing, twins
from viz.models.trained.layer_sharing import N_KV_HEADS, VARIANTS, Trained, tied
from viz.models.trained.twins import Recipe, Run


def single(n_kv_heads: int, recipe: Recipe, *, seed: int) -> Any:
    """An untrained twin with one layer."""
    return twins.build(n_kv_heads, replace(recipe, n_layers=1), seed=seed)


MAKE: Mapping[str, Callable[..., Any]] = {"independent": twins.build, "tied": tied, "single": single}


def count(model: Any) -> int:
    """Parameters, counted from the tensors: one that is used twice counts once."""
    return sum(weights.numel() for weights in model.parameters())


def look(model: Any, recipe: Recipe, *, seed: int) -> dict[str, list[list[float]]]:
    """Measure what the heads of every pass do, on fresh sequences."""
    ids, _ = twins.repeated(8, recipe, torch.Generator().manual_seed(seed))
    # The model itself keeps its attention.
    eager = deepcopy(model)
    eager.set_attn_implementation("eager")
    with torch.inference_mode():
        maps = eager(input_ids=ids, output_attentions=True, use_cache=False).attentions

    copies = [torch.stack([induction(m, text_ids) for m, text_ids in zip(w, ids, strict=True)]) for w in maps]
    return {
        "previous": [weight_at_offset(weights, -1).mean((0, -1)).tolist() for weights in maps],
        "next": [scores.mean(0).tolist() for scores in copies],
    }


def train(variant: str, recipe: Recipe, *, seed: int, on_step: Callable[[], Any] = lambda: None) -> Trained:
    """Train one variant on the twins' task, with the twins' recipe."""
    model, run = train_twin(N_KV_HEADS, recipe, seed=seed, on_step=on_step, make=MAKE[variant])
    return Trained(variant=variant, parameters=count(model), run=run, look=look(model, recipe, seed=20_000))


def save(new: Sequence[Trained], recipe: Recipe) -> None:
    """Add trainings to the record; one of the same variant and seed is replaced."""
    by_variant = {(training.variant, training.run.seed): training for training in (*layer_sharing.trainings(), *new)}
    order = sorted(by_variant, key=lambda key: (list(VARIANTS).index(key[0]), key[1]))
    write_record(twins.FOLDER / "tied.json", {"recipe": asdict(recipe)}, [asdict(by_variant[key]) for key in order])
    layer_sharing.trainings.cache_clear()


def main() -> None:
    """Train every variant, and record how it went."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    arguments, recipe = parser.parse_args(), Recipe(steps=layer_sharing.STEPS)

    def train_variant(variant: str, *, seed: int, on_step: Callable[[], Any]) -> tuple[Trained, Run]:
        training = train(variant, recipe, seed=seed, on_step=on_step)
        return training, training.run

    train_each(
        arguments.variants, arguments.seeds, recipe.steps, train_variant, lambda training, _: save([training], recipe)
    )
