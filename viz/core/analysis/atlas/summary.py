"""Summary of scores over many texts, for every head: mean and interval, baselines, number of contradicting texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.analysis.atlas.evidence import LEAST, against, clears, extremes, gather, hurdle

EXTREMES = 2
"""Texts that are kept of each head and score: those where it scores least, and as many where it scores most."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """One score of every head over many texts.

    ``mean`` and ``half`` (L, H) are the mean and half the width of its interval over ``n`` texts. ``even`` is what an
    even spread scores, ``random`` (L, H) what the heads of one model of random weights do, and ``chance`` (R,) the
    largest mean of any head in each of several such models. ``hurdle`` is what a label has to beat, NaN where the score
    is none, and ``against`` (L, H) how many texts stay below it. ``low`` and ``high`` (KEPT, L, H) are the numbers of
    the texts where a head scores least and most, with their ``low_values`` and ``high_values``; -1 and NaN where there
    are not so many.
    """

    n: int
    even: float
    mean: Tensor
    half: Tensor
    random: Tensor
    chance: Tensor
    hurdle: float
    against: Tensor
    low: Tensor
    low_values: Tensor
    high: Tensor
    high_values: Tensor

    @cached_property
    def labelled(self) -> Tensor:
        """True for the heads that earn the label, (L, H)."""
        return clears(self.mean, self.half, self.hurdle)


def summarize(
    name: str, values: Float[Tensor, "S L H"], even: Float[Tensor, " S"], random: Sequence[Float[Tensor, "_ L H"]]
) -> Score:
    """Summarise one score of every head; texts that have nothing to score are NaN and do not count.

    Args:
        name: of the score; whether it is a label, and what that takes at least, is in ``LEAST``.
        values: of each text.
        even: what an even spread scores on each.
        random: what each of several models of random weights does, on some of the texts; the first is kept whole.
    """
    size = values.shape[1:]
    flat = values.flatten(1)
    evidence, by_chance = gather(flat), torch.stack([gather(texts.flatten(1)).mean for texts in random])
    level = float(even[even.isfinite()].double().mean()) if even.isfinite().any() else torch.nan
    bar = hurdle(name, level, by_chance) if name in LEAST else torch.nan
    low, high = extremes(flat, EXTREMES)
    return Score(
        n=evidence.n,
        even=level,
        mean=evidence.mean.unflatten(0, size),
        half=evidence.half.unflatten(0, size),
        random=by_chance[0].unflatten(0, size),
        chance=_largest(by_chance),
        hurdle=bar,
        against=against(flat, bar).unflatten(0, size),
        low=low.unflatten(1, size),
        low_values=_at(flat, low).unflatten(1, size),
        high=high.unflatten(1, size),
        high_values=_at(flat, high).unflatten(1, size),
    )


def _largest(values: Tensor) -> Tensor:
    """The largest number of each row; NaN in a row that has none."""
    return values.nan_to_num(-torch.inf).amax(-1).where(values.isfinite().any(-1), torch.nan)


def _at(values: Tensor, texts: Tensor) -> Tensor:
    return values.gather(0, texts.clamp(min=0)).where(texts >= 0, torch.nan)


def labels_of(scores: Mapping[str, Score], layer: int, head: int) -> list[str]:
    """The labels that a head has earned, the clearest first: where most of the room above the hurdle is taken."""
    clear = {
        name: float((score.mean - score.half)[layer, head] - score.hurdle) / max(1 - score.hurdle, 1e-9)
        for name, score in scores.items()
        if bool(score.labelled[layer, head])
    }
    return sorted(clear, key=lambda name: -clear[name])


def correlation(x: Float[Tensor, " N"], y: Float[Tensor, " N"]) -> Float[Tensor, ""]:
    """Correlation of two scores over heads, from -1 to 1 (Pearson's r).

    NaN where one of them is the same for all.

    Example:
        >>> correlation(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([3.0, 2.0, 1.0])).round(decimals=4)
        tensor(-1.)
    """
    x, y = (values.double() - values.double().mean() for values in (x, y))
    return (x @ y / (x.norm() * y.norm())).float()


def histogram(groups: Sequence[Float[Tensor, " _"]], bins: int) -> tuple[Float[Tensor, " E"], list[Tensor]]:
    """Histogram of a score for each group of heads: the edges of equal steps, and the counts of each group.

    A step is 1, 2 or 5 times a power of ten, and there are at most ``bins``, at least one of them. A value on an edge
    counts to the step above it, the largest to the last step.

    Example:
        >>> edges, (counts,) = histogram([torch.tensor([0.03, 0.4, 0.5, 0.97])], 2)
        >>> edges.tolist(), counts.tolist()
        ([0.0, 0.5, 1.0], [2.0, 2.0])
    """
    together = torch.cat([values[values.isfinite()] for values in groups])
    low, high = float(together.min()), float(together.max())
    high = high if high > low else low + 1
    first, last, step = _round_steps(low, high, bins)
    edges, n_steps, counts = (torch.arange(first, last + 1).double() * step).float(), last - first, []
    for values in groups:
        at = torch.bucketize(values[values.isfinite()], edges, right=True) - 1
        counts.append(torch.bincount(at.clamp(0, n_steps - 1), minlength=n_steps).float())
    return edges, counts


def _round_steps(low: float, high: float, most: int) -> tuple[int, int, float]:
    """Return the first and the last edge, in steps, and the smallest round step that needs at most ``most`` steps."""
    power = math.floor(math.log10((high - low) / most))
    for step in (size * 10.0**exponent for exponent in (power, power + 1, power + 2) for size in (1, 2, 5)):
        first, last = math.floor(low / step), math.ceil(high / step)
        if last - first <= most:
            return first, max(last, first + 1), step
    raise ValueError(f"{most} steps do not reach from {low} to {high}")
