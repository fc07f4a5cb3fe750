"""The reason for the root of d: random scores grow with the vectors' width, and large ones saturate the softmax."""

from functools import lru_cache

import streamlit as st
import torch
from torch import Tensor

from pages.step_by_step import formulas, reference
from pages.step_by_step.ablation import attend_with
from pages.step_by_step.context import StepByStepContext
from viz.core.analysis.checks import worst
from viz.core.analysis.saturation import Saturation, random_scores, saturation
from viz.core.mistakes.attention import Faults
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.figures.palette import BLUE, ORANGE
from viz.frame import compute
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.show import show_lines

WIDTHS, ROWS, KEYS = (1, 4, 16, 64, 256), 400, 10
"""Of the random vectors: 400 queries of each width with 10 keys each take about 15 ms."""

VARIANCE = 0.25
"""Tolerance of the variance of 4,000 random scores of each width, divided by its root; the law says 1."""

WITHOUT_AND_WITH = (ORANGE, BLUE)
"""Colours of the faulty and the correct curve."""


def draw(context: StepByStepContext) -> list[Check]:
    """Draw variance, largest weight and derivative against width, with and without the root; then this head's row."""
    measures = [saturation(scores) for scores in sample_scores()]
    _curves(context, *measures)
    say(context.t("step_by_step.random", n=ROWS, keys=KEYS))
    _row(context)
    return _checks(measures)


@compute.cached
def sample_scores() -> tuple[Tensor, Tensor]:
    """Return random scores (widths, rows, keys), and the same divided by the root of their width."""
    scores = random_scores(WIDTHS, n_rows=ROWS, n_keys=KEYS, seed=0)
    return scores, scores / torch.tensor(WIDTHS).sqrt()[:, None, None]


def _curves(context: StepByStepContext, unscaled: Saturation, scaled: Saturation) -> None:
    t = context.t
    plots = (("variance", True), ("largest", False), ("jacobian", False))
    for column, (measure, log) in zip(st.columns(3), plots, strict=True):
        series = {
            t("step_by_step.without"): getattr(unscaled, measure),
            t("step_by_step.with"): getattr(scaled, measure),
        }
        title = t(f"step_by_step.random_{measure}")
        ends = [number(float(values[-1]), 3) for values in series.values()]
        alt = t("step_by_step.random_alt", title=title, d=WIDTHS[-1], without=ends[0], scaled=ends[1])
        widths = Axis(t("step_by_step.axis_width"), log=True, ticks=list(WIDTHS))
        values = Axis(title, grid=True, log=log, limits=None if log else (0, 1.02))
        fig = curves(WIDTHS, series, x=widths, y=values, hues=WITHOUT_AND_WITH, dots=True)
        with column:
            st.subheader(title, anchor=False)
            show_lines(fig, key=f"random_{measure}", alt=alt)


def _row(context: StepByStepContext) -> None:
    """Write the effect of the division on the selected row of the head."""
    if context.cell.fully_masked:
        say(context.t("step_by_step.row_blind", i=context.query))
        return
    raw = float(attend_with(context, Faults(no_scale=True)).weights[context.query].max())
    scaled = float(context.trace.weights[context.head, context.query].max())
    how = "root" if formulas.by_root(context) else "other"
    sizes = {"d_k": context.spec.d_k, "scale": number(context.trace.scale, 3)}
    values = {"i": context.query, "head": context.head, "raw": part(raw), "scaled": part(scaled)}
    say(context.t(f"step_by_step.row_{how}", **values, **sizes))


def _checks(measures: list[Saturation]) -> list[Check]:
    """Check the law on the random scores, and the derivative against torch's autograd."""
    norms = [(_median_norms(scores), result.jacobian) for scores, result in zip(sample_scores(), measures, strict=True)]
    off = worst(float((derived.square() - result.square()).abs().max()) for derived, result in norms)
    variance = sample_scores()[1].double().flatten(1).var(1)
    return [
        check("step_by_step.check_variance", (variance - 1).abs().max(), VARIANCE, n=f"{ROWS * KEYS:,}"),
        check("step_by_step.check_jacobian", off, reference.SQUARED_NORM),
    ]


@lru_cache(2)
def _median_norms(scores: Tensor) -> Tensor:
    """Median over the rows of the derivative's norm, for each width; cached, as the scores are."""
    norms = reference.jacobian_norms(scores.flatten(0, 1)).view(len(WIDTHS), ROWS)
    return norms.quantile(0.5, dim=1)
