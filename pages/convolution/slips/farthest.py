"""The shift put where the head's centre belongs: the head then looks at the farthest word."""

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from viz.components.matrix import Matrix, numbered
from viz.core.analysis.checks import largest
from viz.core.attention import row_softmax
from viz.core.mistakes.relative import shift_for_centre
from viz.core.variants.relative import factored_scores
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.show import show_lines, show_matrix
from viz.params import Int, Real

FORMULA = (
    r"\begin{aligned} -\alpha\,(1, -2\Delta) \cdot (\delta^2, \delta) &= -\alpha(\delta - \Delta)^2 + \alpha\Delta^2"
    r" \\ -\alpha\,(1, -2\delta) \cdot (\delta^2, \delta) &= -\alpha(\delta^2 - 2\delta^2) = +\alpha\,\delta^2"
    r" \end{aligned}"
)
CODE = (shift_for_centre,)
PLACES, MIDDLE = 13, 6
ALPHAS = (0.1, 0.3, 1.0, 3.0)

SLIP_DELTA = Int("slip_delta", 2, low=-4, high=4)
SLIP_ALPHA = Real("slip_alpha", 0.3, among=ALPHAS)


def draw(context: ConvolutionContext) -> list[Check]:
    """Two maps of the same head, and below them the two scores of the word in the middle."""
    t, pictures = context.t, st.container()
    with st.container(horizontal=True, gap="large"):
        delta = SLIP_DELTA.slider(t("convolution.slips.delta"), width=260)
        alpha = SLIP_ALPHA.select_slider(t("convolution.slips.alpha"), width=260)
    offset, alphas, grid = torch.tensor([[float(delta)]]), torch.tensor([alpha]), (PLACES,)
    scores = {"right": factored_scores(offset, alphas, grid)[0], "wrong": shift_for_centre(alphas, grid)[0]}
    weights = {name: row_softmax(values) for name, values in scores.items()}
    with pictures:
        _maps(context, weights)
        _say(context, weights, delta)
    _curves(context, scores)
    return _checks(weights, offset, alphas)


def _maps(context: ConvolutionContext, weights: dict[str, Tensor]) -> None:
    t = context.t
    for column, (name, values) in zip(st.columns(2), weights.items(), strict=True):
        with column:
            say(t(f"convolution.slips.farthest_{name}"))
            rows, columns = (numbered(PLACES, t(f"convolution.slips.{side}")) for side in ("row", "column"))
            matrix = Matrix(
                values=values, rows=rows, columns=columns, kind="weights", framed=(MIDDLE, None), low=True, scale=False
            )
            show_matrix(t, matrix, key=f"slip_{name}", alt=t(f"convolution.slips.farthest_{name}"))


def _say(context: ConvolutionContext, weights: dict[str, Tensor], delta: int) -> None:
    top = {name: part(float(values[MIDDLE].max())) for name, values in weights.items()}
    say(context.t("convolution.slips.farthest_found", delta=number(delta), place=MIDDLE + delta, **top))


def _curves(context: ConvolutionContext, scores: dict[str, Tensor]) -> None:
    t, shifts = context.t, range(-MIDDLE, PLACES - MIDDLE)
    series = {t(f"convolution.slips.score_{name}"): values[MIDDLE] for name, values in scores.items()}
    fig = curves(
        shifts,
        series,
        x=Axis(t("convolution.slips.shift")),
        y=Axis(t("convolution.slips.score"), grid=True),
        dots=True,
    )
    show_lines(fig, key="slip_scores", alt=t("convolution.slips.scores_alt"))


def _checks(weights: dict[str, Tensor], offset: Tensor, alpha: Tensor) -> list[Check]:
    right = by_hand.softmax(by_hand.window_scores(offset, alpha, (PLACES,)))[0]
    # −α |δ − 0|² with the other sign: what is left where v holds the shift itself
    wrong = by_hand.softmax(-by_hand.window_scores(torch.zeros(1, 1), alpha, (PLACES,)))[0]
    size = largest(by_hand.window_scores(offset, alpha, (PLACES,)))
    return [
        check("convolution.slips.check_right", (weights["right"] - right).abs().max(), 1e-6 * size),
        check("convolution.slips.check_farthest", (weights["wrong"] - wrong).abs().max(), 1e-6 * size),
    ]
