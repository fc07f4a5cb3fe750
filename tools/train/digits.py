"""Train the small vision model: ``python -m tools.train digits``, some minutes on one core."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from viz.models.trained import digits
from viz.models.trained.digits import FOLDER, HELD_OUT, SIDE, Digits, Recipe, Run


def split(seed: int) -> tuple[Digits, Digits]:
    """scikit-learn's digits, mixed: those to train on, and those held out."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(seed))
    levels = torch.from_numpy(data.images).round().to(torch.uint8)[order]
    names = torch.from_numpy(data.target).long()[order]
    cut = len(order) - HELD_OUT
    return Digits(levels=levels[:cut], names=names[:cut]), Digits(levels=levels[cut:], names=names[cut:])


def save(folder: Path, model: Any, recipe: Recipe, how: Run, new: Digits) -> None:
    """Write the checkpoint, how pictures are read, the record, and the digits that were held out."""
    folder.mkdir(exist_ok=True)
    model.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    reads = {"image_mean": [0.5], "image_std": [0.5], "size": {"height": SIDE, "width": SIDE}}
    (folder / "preprocessor_config.json").write_text(json.dumps(reads, indent=2) + "\n", "utf8")
    record = {"recipe": asdict(recipe), "run": asdict(how)}
    (folder / "run.json").write_text(json.dumps(record) + "\n", "utf8")
    Image.fromarray(new.levels.reshape(-1, SIDE).numpy()).save(folder / "held_out.png", optimize=True)
    (folder / "held_out.txt").write_text("".join(str(int(name)) for name in new.names) + "\n", "ascii")


def main() -> None:
    """Train and write the folder."""
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    # With more threads sums are rounded in another order.
    torch.set_num_threads(1)
    recipe = digits.Recipe()
    both = split(recipe.seed)
    with tqdm(total=recipe.epochs * (len(both[0].names) // recipe.batch)) as bar:
        model, how = digits.train(recipe, both, on_step=bar.update)
        bar.set_postfix(accuracy=how.accuracy[-1])
    save(folder, model, recipe, how, both[1])
