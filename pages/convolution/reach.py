"""Limits of a convolution: it does not reach far in one layer, nor depend on the words."""

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv1d

from pages.convolution.context import ConvolutionContext
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.scene import mask_has_effect
from viz.frame.show import show_lines
from viz.params import Int
from viz.text import Translate

DEPTH = 12
SIZES = (3, 5, 7)

K_STACK = Int("k_stack", 3, among=SIZES)


def draw(context: ConvolutionContext) -> list[Check]:
    """Render the number of tokens the first one reaches, layer by layer, and in a single layer of attention."""
    t, n = context.t, len(context.scene.labels)
    picture, k = st.container(), _kernel_size(t)
    with picture:
        checks = _chart(context, k, n) if n > 1 else []
    if n == 1:
        say(t("convolution.field_one"))
    say(t("convolution.reach.shows"))
    return checks


def _kernel_size(t: Translate) -> int:
    return K_STACK.select_slider(t("convolution.k_stack"), width=320)


def _chart(context: ConvolutionContext, k: int, n: int) -> list[Check]:
    t, depth, half = context.t, range(1, DEPTH + 1), k // 2
    field_sizes = torch.tensor([min(n, 1 + layers * half) for layers in depth])
    series = {t("convolution.stack"): field_sizes, t("convolution.one_attention"): torch.full((DEPTH,), n)}
    sentence = t("convolution.field_found", k=k, n=n, layers=-(-(n - 1) // half))
    layers, sees = Axis(t("convolution.layers")), Axis(t("convolution.sees"), grid=True)
    fig = curves(depth, series, x=layers, y=sees, height=260)
    show_lines(fig, key="field", alt=sentence)
    say(sentence)
    if mask_has_effect(context.scene):
        st.caption(t("convolution.field_masked"))
    off = (field_sizes - reached_by_conv1d(k, n)).abs().max()
    return [check("convolution.check_reach", off, 0.0, k=k, layers=DEPTH)]


def reached_by_conv1d(k: int, n: int) -> Tensor:
    """After each layer: to how many of n tokens torch's conv1d, applied again and again, has carried the first."""
    kernel, signal, counts = torch.ones(1, 1, k), torch.zeros(1, 1, n), []
    signal[..., 0] = 1
    for _ in range(DEPTH):
        signal = (conv1d(signal, kernel, padding=k // 2) > 0).float()
        counts.append(int(signal.sum()))
    return torch.tensor(counts)
