"""Cached computations of the sections on a trained vision model."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from pages.convolution.compute import Numbers
from viz.core.analysis.plane_fit import fit_planes, plane_weights
from viz.core.analysis.window_fit import WindowFit
from viz.errors import ModelError
from viz.frame import compute
from viz.frame.compute import cached
from viz.frame.queue_notice import until
from viz.frame.specs import picture_entries
from viz.models import registry
from viz.models.pictures.vision import VisionCapture, VisionModel, judged, load_vision, look, untrained
from viz.models.trained import digits
from viz.scheduler.cache import CachedFunction


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A model that reads pictures: its name, and whether as it was trained or as it began."""

    model: str
    trained: bool = True


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Largest error of our weights against transformers' own pass, and the latter's probabilities, if any."""

    weights: float
    probabilities: Tensor


@partial(CachedFunction, store=compute.models, kind="load", wait=until)
def load_reader(reader: Reader) -> VisionModel:
    """A loaded model, shared by all users.

    Raises:
        ModelError: if it cannot be used.
    """
    if not reader.trained:
        after = load_reader(Reader(model=reader.model))
        is_ours = after.entry in registry.picture_entries()
        return untrained(after, digits.build(digits.Recipe()) if is_ours else None)
    entry = next((entry for entry in picture_entries() if entry.id == reader.model), None)
    if entry is None:
        raise ModelError("unknown", model=reader.model)
    return load_vision(entry)


@cached
def capture_of(reader: Reader, picture: Numbers) -> VisionCapture:
    """The capture of a picture, layer by layer."""
    return look(load_reader(reader), picture.tensor())


@cached
def fits(reader: Reader, picture: Numbers) -> tuple[WindowFit, ...]:
    """The window closest to every head, for each layer."""
    capture = capture_of(reader, picture)
    return tuple(fit_planes(capture.among_patches(i).weights, capture.grid) for i in range(len(capture.calls)))


@cached
def windows(reader: Reader, picture: Numbers, layer: int, query: int) -> Tensor:
    """The weights of the window closest to each head of a layer, from one patch to all, (H, P)."""
    fit, grid = fits(reader, picture)[layer], capture_of(reader, picture).grid
    heads = zip(fit.offset, fit.alpha, strict=True)
    return torch.stack([plane_weights(offset[None], alpha[None], grid)[0, query] for offset, alpha in heads])


@cached
def rows(reader: Reader, picture: Numbers, query: int) -> Tensor:
    """The weights of every head from one patch, (L, H, P)."""
    capture = capture_of(reader, picture)
    return torch.stack([capture.among_patches(i).weights[:, query] for i in range(len(capture.calls))])


@cached
def agreement(reader: Reader, picture: Numbers) -> Agreement:
    """Our weights and scores against the model's own forward pass, in transformers' attention."""
    capture = capture_of(reader, picture)
    weights, logits = judged(load_reader(reader), picture.tensor())
    off = max(float((capture.layer(i).weights - theirs).abs().max()) for i, theirs in enumerate(weights))
    return Agreement(weights=off, probabilities=torch.zeros(0) if logits is None else logits.softmax(-1))


@cached
def right(reader: Reader) -> int:
    """The number of held-out digits that the model classifies correctly."""
    held_out_digits, model = digits.held_out(), load_reader(reader).model
    with torch.inference_mode():
        predicted = model(pixel_values=digits.pixels(held_out_digits.levels)).logits.argmax(-1)
    return int((predicted == held_out_digits.names).sum())


@cached
def every_digit(reader: Reader, of_each: int) -> Tensor:
    """The share that the closest window explains of each head, for so many held-out digits of each name, (n, L, H)."""
    held_out_digits = digits.held_out()
    indices = [at for name in range(10) for at in (held_out_digits.names == name).nonzero()[:of_each, 0].tolist()]
    pictures = [Numbers.of(held_out_digits.levels[at].float()[None] / digits.LEVELS) for at in indices]
    return torch.stack([torch.stack([fit.explained_share for fit in fits(reader, picture)]) for picture in pictures])
