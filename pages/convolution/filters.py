"""A few heads and W_O are a filter on a signal: beside torch's conv1d."""

from collections.abc import Mapping

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from pages.convolution.context import SHARP, ConvolutionContext
from viz.core.analysis.checks import largest
from viz.core.variants.relative import QuadraticHeads, heads_from_kernel
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.show import show_lines
from viz.params import Choice, Real
from viz.text import Translate

FORMULA = (
    r"\begin{gathered} y_i = \sum_h w_h \sum_j A^{(h)}_{ij}\, x_j"
    r" \\ \xrightarrow{\ \alpha \to \infty\ }\; \sum_h w_h\, x_{i + \Delta_h} \end{gathered}"
)
TAPS: Mapping[str, tuple[float, ...]] = {
    "average": (1 / 3, 1 / 3, 1 / 3),
    "shift": (1.0, 0.0, 0.0),
    "difference": (-1.0, 0.0, 1.0),
    "gaussian": (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16),
}
OWN_TAPS = 5
LOPSIDED = (0.5, -1.0, 2.0)
"""Asymmetric, so that a head that looks the wrong way fails the check."""

ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 46.0, 100.0)
"""In even steps of a ratio, as far as whole numbers allow."""

FILTER = Choice("taps", among=(*TAPS, "own"))
ALPHA_1D = Real("alpha_1d", 5.0, among=ALPHAS)


def draw(context: ConvolutionContext) -> list[Check]:
    """Render the output of the heads and of conv1d on a signal."""
    t, wave, picture = context.t, signal(), st.container()
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        name = FILTER.pills(t("convolution.taps"), says=lambda code: t(f"convolution.taps_{code}"), width="content")
        alpha = ALPHA_1D.select_slider(t("convolution.alpha"), says=_says_alpha, width=300)
    kernel = torch.tensor(TAPS.get(name) or _own_taps())[None, None]
    heads = heads_from_kernel(kernel, alpha=alpha)
    output, expected = heads.layer(wave), torchs(wave, kernel)
    error = float((output - expected).abs().max())
    sentence = t("convolution.filter_found", alpha=number(alpha, 3), error=number(error))
    series = {t("convolution.signal"): wave[0], t("convolution.attention"): output[0], "conv1d": expected[0]}
    places, values = Axis(t("convolution.place")), Axis(t("convolution.value"), grid=True)
    fig = curves(range(wave.shape[1]), series, x=places, y=values)
    with picture:
        show_lines(fig, key="filter", alt=sentence)
        say(sentence)
    st.text(_sum_of_heads(t, heads))
    return _checks(wave, kernel)


def signal() -> Tensor:
    """A step, a wave and a spike: 47 samples, one channel."""
    at = torch.arange(47.0)
    samples = 0.5 * torch.sin(at / 3) + (at > 22).float()
    samples[35] += 1.5
    return samples[None]


def torchs(wave: Tensor, kernel: Tensor) -> Tensor:
    """Torch's own convolution, with the border repeated."""
    half = kernel.shape[-1] // 2
    return conv1d(pad(wave[None], (half, half), mode="replicate"), kernel)[0]


def _says_alpha(value: float) -> str:
    return f"α = {number(value, 3)}"


def _own_taps() -> tuple[float, ...]:
    """The user's own filter, which is the identity at first."""
    taps = []
    with st.container(horizontal=True, gap="small"):
        for i in range(OWN_TAPS):
            tap = Real(f"tap{i}", float(i == OWN_TAPS // 2), low=-9.0, high=9.0)
            taps.append(tap.number_input(f"Δ = {i - OWN_TAPS // 2}".replace("-", "−"), step=0.1, width=130))
    return tuple(taps)


def _sum_of_heads(t: Translate, heads: QuadraticHeads) -> str:
    """List the heads with their shifts and weights: "−1 · head 0 (Δ = −1)  +  ..."."""
    taps, shifts = heads.weights.w_o.flatten().tolist(), heads.offset.flatten().tolist()
    parts = [
        f"{number(tap, 3)} · {t('convolution.head', i=i)} (Δ = {number(shift, 3)})"
        for i, (tap, shift) in enumerate(zip(taps, shifts, strict=True))
    ]
    return t("convolution.sum_of_heads", parts="  +  ".join(parts))


def _checks(wave: Tensor, kernel: Tensor) -> list[Check]:
    checks = []
    for key, taps in (("check_1d", kernel), ("check_1d_lopsided", torch.tensor(LOPSIDED)[None, None])):
        expected = torchs(wave, taps)
        off = heads_from_kernel(taps, alpha=SHARP).layer(wave) - expected
        checks.append(check(f"convolution.{key}", off.abs().max(), 1e-5 * largest(expected), alpha=number(SHARP)))
    return checks
