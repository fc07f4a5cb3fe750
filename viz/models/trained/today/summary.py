"""Summaries of the trainings over seeds, and the rule by which two variants differ or do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from viz.models.trained.today.modules import DeltaAttention
from viz.models.trained.today.train import VARIANTS, Trained

BASELINES: Mapping[str, str] = {
    "sink": "standard",
    "gate": "standard",
    "latent": "standard",
    "delta_3_1": "standard_4",
}
"""For each variant the standard twin of the same depth."""
MEASURES = ("first_share", "induction", "loss", "accuracy")


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A measure over all seeds of a variant: mean, lowest and highest."""

    mean: float
    low: float
    high: float


def compared_layers(variant: str) -> tuple[int, ...]:
    """Return the layers whose heads have rows of weights in every variant of this depth.

    A mean over other layers would compare different places of a model.
    """
    depth = len(VARIANTS[variant])
    stacks = [layers for layers in VARIANTS.values() if len(layers) == depth]
    return tuple(i for i in range(depth) if all(layers[i] is not DeltaAttention for layers in stacks))


def measure(training: Trained, name: str) -> float:
    """Return one number of a training at its end.

    It is "first_share", the mean over the heads of :func:`compared_layers`; "induction", that of their best head;
    "loss" or "accuracy", over the words that can be known.
    """
    if name in ("loss", "accuracy"):
        return float(vars(training.run)[name][-1])
    heads = [value for layer in compared_layers(training.variant) for value in vars(training.after)[name][layer]]
    return mean(heads) if name == "first_share" else max(heads)


def summarise(trainings: Sequence[Trained]) -> Mapping[str, Spread]:
    """Return mean, lowest and highest of every measure over the seeds of one variant."""
    values = {name: [measure(training, name) for training in trainings] for name in MEASURES}
    return {name: Spread(mean=mean(seeds), low=min(seeds), high=max(seeds)) for name, seeds in values.items()}
