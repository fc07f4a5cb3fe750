"""A training that `viz.watch` looks at every 50 steps, beside a bare one: seconds of a processor, in turn.

    python -m bench.watch [--steps 200] [--rounds 3]

The model is a small decoder's, as in ``viz/models/trained/twins.py``. Both trainings see the same batches, and leave
the same weights, to the last bit. A training's time varies by more than its moments take, so these are timed by
themselves. The file is made afterwards.
"""

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch

import viz
from viz.models.trained import twins

MOST = 0.03
"""Of the training's time."""
TEXT = "the cat has a dog and the cat has a bird"


def train(model: Any, steps: int) -> None:
    """Train as the twins are."""
    recipe, generator = twins.Recipe(), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate)
    for _ in range(steps):
        ids, _ = twins.repeated(recipe.batch, recipe, generator)
        optimizer.zero_grad()
        twins.losses(model, ids)[0].mean().backward()
        optimizer.step()


def run(steps: int, *, is_watched: bool) -> tuple[float, float, Any, Any]:
    """Return the processor's seconds of a training, those of its moments, its model, and its strip if there is one."""
    model = twins.build(2, twins.Recipe(), seed=0).train()
    strip, moments = viz.watch(model, twins.tokenizer(), TEXT) if is_watched else None, 0.0
    if strip:
        note = strip.note

        def note_timed(*arguments: Any) -> None:
            nonlocal moments
            start = time.process_time()
            note(*arguments)
            moments += time.process_time() - start

        strip.note = note_timed  # type: ignore[method-assign,assignment]
    start = time.process_time()
    with strip or nullcontext():
        train(model, steps)
    return time.process_time() - start, moments, model, strip


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.watch", description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    run(2, is_watched=True)
    shares = []
    for _ in range(options.rounds):
        bare, _, bare_model, _ = run(options.steps, is_watched=False)
        seconds, moments, model, strip = run(options.steps, is_watched=True)
        if not all(map(torch.equal, bare_model.parameters(), model.parameters())):
            raise AssertionError("the training is another one")
        shares.append(moments / bare)
        out(f"{options.steps} steps: {bare:.2f} s bare, {seconds:.2f} s with it, of these {moments:.3f} s its moments")
    out(f"median {median(shares):.2%} of a bare training, at most {MOST:.0%}; moments: {list(strip.moments)}")
    with TemporaryDirectory() as folder:
        start = time.process_time()
        file = strip.save_html(Path(folder) / "strip.html")
        out(f"the file: {time.process_time() - start:.2f} s, {file.stat().st_size / 1e6:.2f} MB")


def out(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
