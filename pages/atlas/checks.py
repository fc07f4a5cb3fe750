"""Checks of a head against other programs: its extreme texts, the page's text, and new means."""

import math
from collections.abc import Mapping

import numpy as np
import torch

from pages.atlas import recount
from pages.atlas.context import AtlasContext
from pages.atlas.parameters import OWN_TEXTS
from viz.core.analysis.atlas.scores import SENTENCES, sentence_scores
from viz.core.analysis.map_statistics import uniform
from viz.frame import specs
from viz.frame.checks import Check, check, source_checks
from viz.frame.compute import cached, read, trace
from viz.frame.specs import Source
from viz.models.atlas.corpus import LONGEST
from viz.models.atlas.file import SCALE
from viz.models.spelling.visible import is_mark

STORED_ERROR, COMPUTED_ERROR = 1 / SCALE, 1e-4
"""Tolerances of a number from a file, which is rounded, and of one computed now."""
MAX_RECOUNTED_LINES = 12
"""The most lines whose mean is recomputed."""


def of_line(context: AtlasContext, line: str) -> Source:
    """A line as the atlas's model reads it."""
    return Source(kind="model", text=line, model=context.source.model)


def recounted(context: AtlasContext, name: str, layer: int, head: int, number: int) -> float:
    """A head's score on one of the texts, by an independent implementation."""
    model = context.source.model
    if name == "copying":
        return recount.on_word(model, number, layer, head)
    if name in ("duplicate", "induction"):
        return recount.on_random_tokens(model, number, name, layer, head)
    if name == "removal":
        return recount.without_head(of_line(context, context.atlas.lines[number]), layer, head, LONGEST)
    return recount.on_line(of_line(context, context.atlas.lines[number]), name, layer, head, LONGEST)


def head_checks(context: AtlasContext, name: str, layer: int, head: int) -> list[Check]:
    """Return the checks of a head's score."""
    score = context.score(name)
    off = 0.0
    extremes = ((score.low, score.low_values), (score.high, score.high_values))
    for texts, values in extremes:
        for number, value in zip(texts[:, layer, head].tolist(), values[:, layer, head].tolist(), strict=True):
            if number >= 0:
                expected = recounted(context, name, layer, head, number)
                off = max(off, abs(expected - value) / max(1.0, abs(expected)))
    checks = [check("atlas.check_extremes", off, _tolerance(context, name), layer=layer, head=head)]
    if name in SENTENCES:
        checks.append(_check_text(context, name, layer, head))
    if not context.atlas.made and name in SENTENCES and len(context.atlas.lines) <= MAX_RECOUNTED_LINES:
        checks.append(_check_mean(context, name, layer, head))
    return [*checks, *source_checks(context.source, layer, specs.Mask())]


def _tolerance(context: AtlasContext, name: str) -> float:
    """Return a score's tolerance: copying ranks words in float64, a window is fitted in steps."""
    loose = {"copying": 0.011, "window": 2e-3, "removal": 1e-3}.get(name, 0.0)
    return max(loose, 2 * STORED_ERROR if context.atlas.made else COMPUTED_ERROR)


@cached
def on_text(source: Source, layer: int, head: int) -> Mapping[str, tuple[float, float]]:
    """A head's scores on the page's text, each beside that of an even spread."""
    tokens = read(source).tokens
    weights = trace(source, layer, specs.Mask()).weights[head][None]
    visible = torch.ones(weights.shape[1:]).bool()
    visible = visible.tril() if recount.is_causal(source.model) else visible
    marks = torch.tensor(
        [is_mark(label) and not added for label, added in zip(tokens.labels, tokens.special, strict=True)]
    )
    inputs = torch.tensor(tokens.ids), torch.tensor(tokens.special), marks, visible
    scores, even = (sentence_scores(of, *inputs) for of in (weights, uniform(visible)[None]))
    return {name: (float(scores[name]), float(even[name])) for name in SENTENCES}


def _check_text(context: AtlasContext, name: str, layer: int, head: int) -> Check:
    value, _ = on_text(context.source, layer, head)[name]
    expected = recount.on_line(context.source, name, layer, head)
    both_none = math.isnan(value) and math.isnan(expected)
    off = 0.0 if both_none else abs(value - expected) / max(1.0, abs(expected))
    return check("atlas.check_text", off, COMPUTED_ERROR, layer=layer, head=head)


def student_t(freedom: int) -> float:
    """Student's t of 95 %, by integration: its density over the arctangent of t / √ν is a power of the cosine."""
    angles = np.linspace(-math.pi / 2, math.pi / 2, 200_001)
    density = np.cos(angles) ** (freedom - 1)
    share = (np.cumsum(density) - density / 2) / density.sum()
    return math.sqrt(freedom) * math.tan(float(np.interp(0.975, share, angles)))


def _check_mean(context: AtlasContext, name: str, layer: int, head: int) -> Check:
    """Mean and interval of the few lines that were just read, by NumPy."""
    lines = context.atlas.lines
    values = np.array([recount.on_line(of_line(context, line), name, layer, head, LONGEST) for line in lines])
    values = values[~np.isnan(values)]
    mean, n = values.mean(), len(values)
    score = context.score(name)
    off = abs(float(score.mean[layer, head]) - mean)
    if n > 2:
        half = student_t(n - 1) * values.std(ddof=1) / math.sqrt(n)
        off = max(off, abs(float(score.half[layer, head]) - half))
    return check("atlas.check_mean", off / max(1.0, abs(mean)), COMPUTED_ERROR, n=n)


def is_own(context: AtlasContext) -> bool:
    """Return whether the lines are the user's own."""
    return context.atlas.corpus == OWN_TEXTS
