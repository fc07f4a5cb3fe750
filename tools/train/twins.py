"""Train the twins: ``python -m tools.train twins`` makes all three, ``--seeds 1 2 3`` adds to their record.

``--points`` makes the points of seed 0's training again, as far as the last.
"""

import argparse
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch

from tools.train.loop import fit, train_each, write_record
from viz.models.trained import twins
from viz.models.trained.twins import Recipe, Run


def train(
    n_kv_heads: int,
    recipe: Recipe,
    *,
    seed: int,
    on_step: Callable[[], Any] = lambda: None,
    make: Callable[..., Any] = twins.build,
    after: Callable[[int, Any], None] = lambda step, model: None,
) -> tuple[Any, Run]:
    """Train one twin, or what ``make`` builds. The same seed shows every one the same sequences in the same order.

    Every next word counts in the loss, those that cannot be known too: the model is not told which is which. ``after``
    each step the model can be looked at.
    """
    model, generator = make(n_kv_heads, recipe, seed=seed), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate)
    measurements = []

    def loss() -> torch.Tensor:
        ids, _ = twins.repeated(recipe.batch, recipe, generator)
        return twins.losses(model, ids)[0].mean()

    def look(step: int) -> None:
        if step % recipe.measured_every == 0:
            measurements.append((step, *twins.measure(model, recipe, seed=10_000)))
        after(step, model)
        on_step()

    fit(model, loss, recipe.steps, optimizer, after=look)
    steps, mean_losses, accuracy = zip(*measurements, strict=True)
    return model, Run(n_kv_heads=n_kv_heads, seed=seed, steps=steps, loss=mean_losses, accuracy=accuracy)


def save_runs(new: Sequence[Run], recipe: Recipe) -> None:
    """Add runs to the record; a run of the same G and seed is replaced."""
    file = twins.FOLDER / "runs.json"
    by_key = {(run.n_kv_heads, run.seed): run for run in (*(twins.runs() if file.exists() else ()), *new)}
    order = sorted(by_key, key=lambda key: (-key[0], key[1]))
    write_record(file, {"recipe": asdict(recipe)}, [asdict(by_key[key]) for key in order])
    twins.runs.cache_clear()


def save_model(model: Any, name: str) -> None:
    """Write a checkpoint and its tokenizer."""
    model.save_pretrained(twins.FOLDER / name)
    twins.tokenizer().save_pretrained(twins.FOLDER / name)
    (twins.FOLDER / name / "model.safetensors").chmod(0o644)


def save_point(n_kv_heads: int, step: int, model: Any) -> None:
    """Keep a twin as it is after one of the steps of ``POINTS``; rounded to 16 bits, half as large."""
    if step in twins.POINTS.get(n_kv_heads, ()):
        save_model(deepcopy(model).half(), twins.point_id(n_kv_heads, step))


def main() -> None:
    """Train every twin; seed 0's are kept, of other seeds only how they went."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--points", action="store_true", help="only the points of seed 0's training")
    arguments = parser.parse_args()
    recipe = twins.Recipe()
    if arguments.points:
        recipe = replace(recipe, steps=max(map(max, twins.POINTS.values())))

    def train_twin(n_kv_heads: int, *, seed: int, on_step: Callable[[], Any]) -> tuple[Any, Run]:
        after = partial(save_point, n_kv_heads) if seed == 0 else lambda step, model: None
        return train(n_kv_heads, recipe, seed=seed, on_step=on_step, after=after)

    def save(model: Any, run: Run) -> None:
        if arguments.points:
            return
        save_runs([run], recipe)
        if run.seed == 0:
            save_model(model, twins.twin_id(run.n_kv_heads))

    seeds = [0] if arguments.points else arguments.seeds
    train_each(twins.POINTS if arguments.points else twins.GROUPS, seeds, recipe.steps, train_twin, save)
