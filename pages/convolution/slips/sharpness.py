"""Two things that are easily taken for each other: how sharp a head looks, and how far all of them reach."""

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from pages.convolution import by_hand
from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.side_by_side import show_side_by_side
from viz.components.maps import Picture
from viz.core.attention import row_softmax
from viz.core.variants.relative import kernel_offsets, quadratic_scores
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.params import Int, Real
from viz.text import Translate

FORMULA = (
    r"\text{one head: } e^{-\alpha \lVert \delta - \Delta \rVert^2}"
    r" \qquad \text{all heads: } \Delta_1, \dots, \Delta_H"
)
CODE = (quadratic_scores,)
SIDE = 11
"""Pixels a side of the small picture; its middle pixel looks."""
MIDDLE = torch.tensor([SIDE * SIDE // 2])
ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 46.0)
SIZES = (1, 3, 5, 7, 9)
SPREAD_ALPHA = Real("spread_alpha", 0.3, among=ALPHAS)
REACH_K = Int("reach_k", 3, among=SIZES)
MOST = 0.9
"""The share of a head's weight that is counted."""


def draw(context: ConvolutionContext) -> list[Check]:
    """One head, as sharp as α says; beside it sharp heads, as many as a kernel has cells."""
    t = context.t
    left, right = st.columns(2, gap="large")
    with left:
        picture = st.container()
        alpha = SPREAD_ALPHA.select_slider(t("convolution.sharpness.alpha"))
        window = _windows(torch.zeros(1, 2), alpha)[0]
        n = pixels_for(window, MOST)
        with picture:
            _picture(t, window, "sharpness_alpha", t("convolution.sharpness.one", n=n))
        say(t("convolution.sharpness.one", n=n))
    with right:
        picture = st.container()
        k = REACH_K.select_slider(t("convolution.sharpness.heads"), says=lambda k: f"{k * k} = {k} × {k}")
        summed_weights = _windows(kernel_offsets((k, k)), SHARP).sum(0)
        with picture:
            many = t("convolution.sharpness.many", H=k * k, k=k)
            _picture(t, summed_weights, "sharpness_heads", many)
        say(many)
    say(t("convolution.sharpness.shows", n=n, H=k * k))
    return _checks(window, summed_weights, alpha, k)


def _windows(offset: Tensor, alpha: float) -> Tensor:
    """The weights that the middle pixel gives, for each head: (H, rows, columns)."""
    scores = quadratic_scores(offset, torch.tensor([alpha]).expand(len(offset)), (SIDE, SIDE), MIDDLE)
    return row_softmax(scores)[:, 0].view(-1, SIDE, SIDE)


def pixels_for(window: Tensor, share: float) -> int:
    """The number of pixels, heaviest first, that hold this share of the weight."""
    cumulative = window.double().flatten().sort(descending=True).values.cumsum(0)
    return int((cumulative < share - 1e-6).sum()) + 1


def _picture(t: Translate, values: Tensor, key: str, alt: str) -> None:
    most = float(values.max())
    show_side_by_side(t, [Picture(title="", values=values, low=-most, high=most, signed=True)], key=key, alt=alt)


def read_by_torch(k: int) -> Tensor:
    """The pixels that torch's Conv2d reads for its middle one: those with a gradient, (rows, columns)."""
    image = torch.zeros(1, 1, SIDE, SIDE, requires_grad=True)
    with torch.inference_mode(False), torch.enable_grad():
        output = conv2d(image, torch.ones(1, 1, k, k), padding=k // 2)
        (gradient,) = torch.autograd.grad(output[0, 0, SIDE // 2, SIDE // 2], image)
    return gradient[0, 0] != 0


def _checks(window: Tensor, summed_weights: Tensor, alpha: float, k: int) -> list[Check]:
    scores = by_hand.window_scores(torch.zeros(1, 2), torch.tensor([alpha]), (SIDE, SIDE), MIDDLE)
    expected = by_hand.softmax(scores)[0, 0].view(SIDE, SIDE)
    wrong = (summed_weights > 0.5) != read_by_torch(k)
    return [
        check("convolution.sharpness.check_window", (window - expected).abs().max(), 1e-5),
        check("convolution.sharpness.check_reach", wrong.sum(), 0.0, k=k, n=int(read_by_torch(k).sum())),
    ]
