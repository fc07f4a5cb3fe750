"""The loop of every training, the bar around it, and the record of runs that it writes."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


def fit(
    model: Any,
    loss: Callable[[], Tensor],
    steps: int,
    optimizer: torch.optim.Optimizer,
    *,
    schedule: Any = None,
    longest_gradient: float | None = None,
    after: Callable[[int], Any] = lambda step: None,
) -> Any:
    """Return a model after so many steps.

    Args:
        model: whose weights are trained.
        loss: makes a batch and returns the model's loss on it.
        steps: how many.
        optimizer: of the model's weights.
        schedule: of the learning rate.
        longest_gradient: gradients are shortened to this length.
        after: called with the number of each step, from 1 on.
    """
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss().backward()
        if longest_gradient is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), longest_gradient)
        optimizer.step()
        if schedule is not None:
            schedule.step()
        after(step)
    return model.eval()


def train_each(
    names: Iterable[Any], seeds: Iterable[int], steps: int, train: Callable[..., Any], save: Callable[[Any, Any], None]
) -> None:
    """Train every variant with every seed, on one thread and with a bar, and save each as it is done.

    With more threads sums are rounded in another order, and some hundred steps end elsewhere.
    """
    from tqdm import tqdm

    torch.set_num_threads(1)
    for seed in seeds:
        for name in names:
            with tqdm(total=steps, desc=f"{name}, seed {seed}") as bar:
                result, run = train(name, seed=seed, on_step=bar.update)
                bar.set_postfix(loss=run.loss[-1], accuracy=run.accuracy[-1])
            save(result, run)


def write_record(file: Path, head: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> None:
    """Write what is common to runs, and each of them in a line of its own."""
    first = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items())
    lines = ",\n".join(map(json.dumps, runs))
    file.write_text(f'{{{first},\n"runs": [\n{lines}\n]}}\n', "utf8")
