"""Evidence of many texts about a head: the mean of a score, its confidence interval, and the rule for labels."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

LEAST = {
    **dict.fromkeys(("previous", "next", "itself", "first", "separators", "punctuation", "same"), 0.25),
    **dict.fromkeys(("duplicate", "induction"), 0.25),
    "copying": 0.75,
}
"""The scores that are labels, and the least value that earns a label, whatever the baseline: a quarter of the weight;
for copying, three of four other words beaten. The share that a window explains is no label: a head that looks at the
first token of short texts is nearly a window, too."""

SURE = 0.95
"""An interval of this confidence."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One score of every head over the texts that have it.

    ``mean`` over texts, ``half`` the width of half its 95 % interval, ``n`` how many texts had something to score.
    """

    mean: Tensor
    half: Tensor
    n: int


def student_t(freedom: int, confidence: float) -> float:
    r"""Return the t between whose negative and itself Student's distribution has this share.

    With :math:`\theta = \arctan(t / \sqrt\nu)` and a whole number :math:`\nu` of degrees of freedom the share is a
    finite sum (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4); its angle is found by halving.

    Example:
        >>> round(student_t(4, 0.95), 4)
        2.7764
    """
    low, high = 0.0, math.pi / 2
    while high - low > 1e-15:
        angle = (low + high) / 2
        low, high = (angle, high) if _share_within(angle, freedom) < confidence else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _share_within(angle: float, freedom: int) -> float:
    is_odd, cosine = freedom % 2, math.cos(angle)
    term, total = (cosine if is_odd else 1.0), 0.0
    for k in range(2 + is_odd, freedom + 1, 2):
        total += term
        term *= (k - 1) / k * cosine**2
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if is_odd else total


def gather(values: Float[Tensor, "S H"]) -> Evidence:
    r"""The mean over texts and its interval, :math:`\bar x \pm t\, s / \sqrt n` (Student's t); NaN texts do not count.

    Texts are taken for independent draws. Of fewer than three the interval is infinite.

    Example:
        >>> evidence = gather(torch.tensor([[0.1], [0.2], [0.3], [torch.nan]]))
        >>> evidence.n, round(float(evidence.mean), 3), round(float(evidence.half), 3)
        (3, 0.2, 0.248)
    """
    finite = values[values.isfinite().all(-1)].double()
    n = len(finite)
    if n == 0:
        nothing = torch.full(values.shape[1:], torch.nan)
        return Evidence(mean=nothing, half=nothing, n=0)
    mean = finite.mean(0)
    if n < 3:
        return Evidence(mean=mean.float(), half=torch.full_like(mean, torch.inf).float(), n=n)
    return Evidence(mean=mean.float(), half=(student_t(n - 1, SURE) * finite.std(0) / n**0.5).float(), n=n)


def hurdle(name: str, even: float, random: Float[Tensor, "*R"]) -> float:
    """Return what a label has to beat: an even spread, every head of models of random weights, and the least it takes.

    Example:
        >>> [round(hurdle("previous", 0.1, torch.tensor(random)), 2) for random in ([0.05, 0.4], [0.2])]
        [0.4, 0.25]
    """
    beaten = torch.cat([torch.tensor([even, LEAST[name]]), random.flatten()])
    return float(beaten[beaten.isfinite()].max())


def clears(mean: Float[Tensor, "*H"], half: Float[Tensor, "*H"], least: float) -> Bool[Tensor, "*H"]:
    """The heads that earn a label: the lower end of the interval lies above the hurdle (none where that is NaN).

    Example:
        >>> clears(torch.tensor([0.5, 0.5]), torch.tensor([0.1, 0.3]), 0.3)
        tensor([ True, False])
    """
    return mean - half > least


def against(values: Float[Tensor, "S H"], least: float) -> Int[Tensor, " H"]:
    """Count the texts that contradict a label: those in which the head stays at or below the hurdle."""
    return (values <= least).sum(0)


def extremes(values: Float[Tensor, "S H"], n: int) -> tuple[Tensor, Tensor]:
    """The texts where each head scores least, and most: two times (n, H) numbers of texts, the extreme one first.

    Texts without the score do not count; where there are fewer than n the last ones are -1.

    Example:
        >>> low, high = extremes(torch.tensor([[0.3], [torch.nan], [0.1]]), 2)
        >>> low.T.tolist(), high.T.tolist()
        ([[2, 0]], [[0, 2]])
    """
    there = values.isfinite().all(-1).nonzero()[:, 0]
    order = values[there].sort(stable=True, dim=0).indices
    ranking = there[order] if len(there) else order
    missing = torch.full((max(0, n - len(ranking)), values.shape[1]), -1)
    return torch.cat([ranking[:n], missing]), torch.cat([ranking.flip(0)[:n], missing])
