"""The rule by which heads earn labels, the interval that is shown, and the numbers of a file, written out again."""

import json
import math
from functools import lru_cache
from typing import Any

import numpy as np

from pages.atlas import compute
from pages.atlas.checks import COMPUTED_ERROR, STORED_ERROR, student_t
from pages.atlas.context import AtlasContext, format_score
from pages.atlas.head import interval
from viz.core.analysis.atlas.scores import SENTENCES
from viz.core.analysis.checks import random_place
from viz.frame.checks import Check, check
from viz.models.atlas.file import SCALE, path_of

QUARTER, THREE_QUARTERS = 0.25, 0.75
"""The least share a label takes: of the weight, and, for copying, of the other words beaten."""
PARTS = ("entropy", "distance", "removal")
"""Scores that are no part of 1, so that their intervals may reach anywhere."""
NO_LABELS = (*PARTS, "window")
"""Scores that name no kind of head."""


def rule_checks(context: AtlasContext, name: str, layer: int, head: int) -> list[Check]:
    """Return what must hold of a score's label and interval, of the head that is open and of all heads."""
    checks = [check("atlas.check_rule", _rule_off(context, name, layer, head), 2 * STORED_ERROR)]
    places = [(i, j) for i in range(context.atlas.size[0]) for j in range(context.atlas.size[1])]
    wrong = sum(_interval_off(context, name, *place) for place in places)
    checks.append(check("atlas.check_interval", wrong, 0, n=len(places)))
    if context.atlas.made:
        layers, heads = context.atlas.size
        any_layer, any_head = (random_place(n, context.source, name, i) for i, n in enumerate((layers, heads)))
        off = _file_off(context, name, any_layer, any_head)
        checks.append(check("atlas.check_file", off, 1e-6, layer=any_layer, head=any_head))
    elif name in SENTENCES:
        checks.append(check("atlas.check_spread", _spread_off(context, name, layer, head), COMPUTED_ERROR))
    return checks


def _rule_off(context: AtlasContext, name: str, layer: int, head: int) -> float:
    """Return how far the hurdle is from its rule; one more for each head whose label is not what the rule says."""
    score = context.score(name)
    if name in NO_LABELS:
        return 0.0 if math.isnan(score.hurdle) else math.inf
    if math.isnan(score.hurdle):
        return math.inf
    chance, first = score.chance.numpy(), score.random.numpy()
    least = THREE_QUARTERS if name == "copying" else QUARTER
    hurdle = max([least, *(float(value) for value in (score.even, *chance[np.isfinite(chance)]) if value == value)])  # noqa: PLR0124
    lower = score.mean.double().numpy() - score.half.double().numpy()
    clear = np.abs(lower - score.hurdle) > 1e-6
    off = abs(float(chance[0]) - first[np.isfinite(first)].max(initial=-math.inf)) if np.isfinite(chance[0]) else 0.0
    wrong = int(((lower > score.hurdle) != score.labelled.numpy())[clear].sum())
    lowest, against = float(score.low_values[0, layer, head]), int(score.against[layer, head])
    if math.isfinite(lowest) and abs(lowest - score.hurdle) > STORED_ERROR:
        wrong += (lowest <= score.hurdle) != (against > 0)
    return max(abs(hurdle - score.hurdle), off) + wrong


def _interval_off(context: AtlasContext, name: str, layer: int, head: int) -> int:
    """Count the numbers of an interval that are written otherwise than mean, mean less and mean plus half."""
    score = context.score(name)
    mean, half = float(score.mean[layer, head]), float(score.half[layer, head])
    texts = interval(name, mean, half)
    ends = [mean, mean - half, mean + half] if math.isfinite(half) else [mean]
    if name not in PARTS:
        ends = [ends[0], *(min(1.0, max(0.0, end)) for end in ends[1:])]
    expected = [format_score(name, end) for end in ends]
    return sum(a != b for a, b in zip(expected, texts, strict=False)) + (len(texts) == 1 < len(set(expected)))


@lru_cache(maxsize=4)
def _scores_of(model: str, corpus: str) -> dict[str, Any]:
    scores: dict[str, Any] = json.loads(path_of(model, corpus).read_text("utf-8"))["scores"]
    return scores


def _file_off(context: AtlasContext, name: str, layer: int, head: int) -> float:
    """Return how far a random head's numbers are from those at its place in the file, layer by layer."""
    file_numbers, score = _scores_of(context.atlas.model, context.atlas.corpus)[name], context.score(name)
    place = layer * context.atlas.size[1] + head
    numbers = {"mean": score.mean, "half": score.half, "random": score.random, "against": score.against}
    off = abs(file_numbers["n"] - score.n) + 0.0
    for part, values in numbers.items():
        expected, value = file_numbers[part][place], float(values[layer, head])
        if expected is not None:
            off = max(off, abs(expected / (1 if part == "against" else SCALE) - value))
    return off


def _spread_off(context: AtlasContext, name: str, layer: int, head: int) -> float:
    """Return how far mean and interval over all lines are from NumPy's, as a share of the mean."""
    pieces, values = compute.chunks_of(context.atlas.lines), list[float]()
    for piece in pieces:
        values += compute.chunk(context.source.model, piece)[name][:, layer, head].tolist()
    finite = np.array([value for value in values if math.isfinite(value)])
    score, n = context.score(name), len(finite)
    if n < 3:
        return float(n != score.n)
    half = student_t(n - 1) * finite.std(ddof=1) / math.sqrt(n)
    off = max(abs(finite.mean() - float(score.mean[layer, head])), abs(half - float(score.half[layer, head])))
    return float(off / max(1.0, abs(finite.mean()))) + float(n != score.n)
