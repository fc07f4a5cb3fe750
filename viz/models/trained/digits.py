"""A small vision model of this project's own, which reads handwritten digits.

``python -m tools.train digits`` trains it again.

A stock ViT of three layers, with a patch for every pixel of scikit-learn's digits (8 x 8): its heads look at pixels as
those of a text model look at words, so that they can be held to a convolution's.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from viz import ASSETS
from viz.core.positions import sinusoidal

FOLDER = ASSETS / "digits"
SIDE, LEVELS = 8, 16
"""Pixels of a side, and the darkest ink: each pixel counts the inked ones of 4 x 4 of the scan."""
HELD_OUT = 360
"""Of scikit-learn's 1797 digits: those that nobody trains on."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides what the model becomes, beside the digits."""

    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 3
    d_ff: int = 128
    start: float = 0.15
    waves: float = 0.6
    wave_base: float = 10.0
    batch: int = 64
    epochs: int = 60
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    shift: int = 1
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Digits:
    """Pictures (n, 8, 8) of 0 to 16, and what each shows (n)."""

    levels: Tensor
    names: Tensor


@dataclass(frozen=True, kw_only=True)
class Run:
    """Record of the training: after each epoch, the mean training loss and the held-out accuracy.

    ``seconds`` of one core, whatever else the machine does.
    """

    parameters: int
    seconds: float
    loss: tuple[float, ...]
    accuracy: tuple[float, ...]


@cache
def held_out() -> Digits:
    """The digits nobody trained on, as they lie beside the weights: a strip of them, 8 pixels wide."""
    with Image.open(FOLDER / "held_out.png") as image:
        levels = torch.from_numpy(np.array(image)).reshape(-1, SIDE, SIDE)
    names = (FOLDER / "held_out.txt").read_text("ascii").strip()
    return Digits(levels=levels, names=torch.tensor([int(name) for name in names]))


@cache
def run() -> Run:
    """Record of the training of the weights in ``assets/``."""
    record = json.loads((FOLDER / "run.json").read_text("utf8"))["run"]
    return Run(**record | {name: tuple(record[name]) for name in ("loss", "accuracy")})


def pixels(levels: Tensor) -> Tensor:
    """Input of the model, (n, 1, 8, 8): no ink is -1, full ink 1."""
    return (levels.float() / LEVELS * 2 - 1).unsqueeze(-3)


def shifted(levels: Tensor, most: int, generator: torch.Generator) -> Tensor:
    """Each picture moved by a random number of pixels, up to ``most`` either way; what comes in is blank."""
    wide = pad(levels, (most,) * 4)
    down, right = torch.randint(2 * most + 1, (2, len(levels), 1), generator=generator)
    at = torch.arange(SIDE)
    return wide[torch.arange(len(levels))[:, None, None], (down + at)[:, :, None], (right + at)[:, None]]


def build(recipe: Recipe) -> Any:
    """The model before training, by transformers' own start."""
    import transformers

    config = transformers.ViTConfig(
        hidden_size=recipe.d_model,
        intermediate_size=recipe.d_ff,
        num_hidden_layers=recipe.n_layers,
        num_attention_heads=recipe.n_heads,
        image_size=SIDE,
        patch_size=1,
        initializer_range=recipe.start,
        num_channels=1,
        num_labels=10,
        id2label={i: str(i) for i in range(10)},
        label2id={str(i): i for i in range(10)},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = transformers.ViTForImageClassification(config).eval()
    with torch.no_grad():
        model.vit.embeddings.position_embeddings[0, 1:] = waves(recipe)
    return model


def waves(recipe: Recipe) -> Tensor:
    """Initial position of each patch, (64, d_model): sine waves of its row beside those of its column.

    Training goes on from there.
    """
    along = sinusoidal(SIDE, recipe.d_model // 2, base=recipe.wave_base)
    both = torch.cat([along[:, None].expand(-1, SIDE, -1), along.expand(SIDE, -1, -1)], -1)
    return recipe.waves * 2**0.5 * both.flatten(0, 1)


def accuracy(model: Any, digits: Digits) -> float:
    """The share of the digits that the model names right."""
    with torch.inference_mode():
        predictions = model(pixel_values=pixels(digits.levels)).logits.argmax(-1)
    return float((predictions == digits.names).float().mean())


def train(
    recipe: Recipe,
    digits: tuple[Digits, Digits],
    *,
    on_step: Callable[[], Any] = lambda: None,
    epochs: int | None = None,
) -> tuple[Any, Run]:
    """The trained model, and how it went. One seed, one result; another version of torch may round otherwise."""
    training_digits, new = digits
    model, generator = build(recipe), torch.Generator().manual_seed(recipe.seed)
    per_epoch, start = len(training_digits.names) // recipe.batch, time.process_time()
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, recipe.learning_rate, total_steps=recipe.epochs * per_epoch
    )
    losses, right = [], []
    for _ in range(epochs or recipe.epochs):
        order, total = torch.randperm(len(training_digits.names), generator=generator), 0.0
        for batch in order[: per_epoch * recipe.batch].split(recipe.batch):
            batch_pixels = pixels(shifted(training_digits.levels[batch], recipe.shift, generator))
            loss = cross_entropy(model(pixel_values=batch_pixels).logits, training_digits.names[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() / per_epoch
            on_step()
        losses.append(total)
        right.append(accuracy(model, new))
    return model, Run(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        seconds=round(time.process_time() - start, 1),
        loss=tuple(losses),
        accuracy=tuple(right),
    )
