"""Train the small decoders with attention of today: ``python -m tools.train today``."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import torch

from tools.train.layer_sharing import count
from tools.train.loop import train_each, write_record
from tools.train.twins import train as train_twin
from viz.models.trained import twins
from viz.models.trained.today import train as today
from viz.models.trained.today.train import VARIANTS, Trained
from viz.models.trained.twins import Recipe, Run


def train(variant: str, recipe: Recipe, *, seed: int, on_step: Callable[[], Any] = lambda: None) -> Trained:
    """Train one variant on the twins' task, with the twins' recipe."""

    def make(_: int, recipe: Recipe, *, seed: int) -> Any:
        return today.build(variant, recipe, seed=seed)

    model, run = train_twin(recipe.n_heads, recipe, seed=seed, on_step=on_step, make=make)
    return Trained(
        variant=variant,
        parameters=count(model),
        run=run,
        before=today.measure_heads(today.build(variant, recipe, seed=seed).eval(), recipe),
        after=today.measure_heads(model, recipe),
    )


def save(new: Sequence[Trained], recipe: Recipe) -> None:
    """Add trainings to the record; one of the same variant and seed is replaced, and all of another recipe go."""
    digest = today.digest(recipe)
    old = today.trainings() if today.recorded_digest() == digest else ()
    by_variant = {(training.variant, training.run.seed): training for training in (*old, *new)}
    order = sorted(by_variant, key=lambda key: (list(VARIANTS).index(key[0]), key[1]))
    head = {"recipe": asdict(recipe), "digest": digest}
    write_record(twins.FOLDER / "today.json", head, [asdict(by_variant[key]) for key in order])
    today.forget_record()


def main() -> None:
    """Train every variant with every seed, and record how it went."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(today.SEEDS))
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    arguments, recipe = parser.parse_args(), today.RECIPE
    # Fast decays leave numbers near 1e-40, which take a processor five times as long.
    torch.set_flush_denormal(True)

    def train_variant(variant: str, *, seed: int, on_step: Callable[[], Any]) -> tuple[Trained, Run]:
        training = train(variant, recipe, seed=seed, on_step=on_step)
        return training, training.run

    train_each(
        arguments.variants, arguments.seeds, recipe.steps, train_variant, lambda training, _: save([training], recipe)
    )
