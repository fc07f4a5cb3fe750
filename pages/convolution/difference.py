"""Differences between the heads and torch's Conv2d: everywhere at small alpha, and at a border of zeros."""

from collections.abc import Mapping

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from pages.convolution import compute
from pages.convolution.compute import Numbers
from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.picture_choice import PictureChoice, choose, choose_channel, replicated
from pages.convolution.side_by_side import show_side_by_side
from viz.components.maps import Picture
from viz.core.analysis.checks import largest
from viz.core.variants.relative import axial_layer, heads_from_kernel
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.show import show_lines

ALPHAS = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 46.0)
SMALLEST_ERROR = 1e-9
"""The smallest error on the logarithmic axis: none at all has no place there."""


def draw(context: ConvolutionContext) -> list[Check]:
    """The error against alpha, and three ways to go on beyond the border."""
    picture = st.container()
    choice = choose(context)
    with picture:
        _error_curve(context, choice)
    say(context.t("convolution.difference.shows"))
    differences = at_border(choice)
    _border(context, choice, differences)
    return _checks(choice, differences)


def _error_curve(context: ConvolutionContext, choice: PictureChoice) -> None:
    """The largest error for each alpha, with the centres on the kernel's cells."""
    t, (rows, columns), half = context.t, choice.image.shape[1:], choice.kernel.shape[-1] // 2
    layers = compute.sharpened(Numbers.of(choice.image), Numbers.of(choice.kernel), ALPHAS)
    off = (layers - choice.torchs()).abs().amax(1)
    border = torch.ones(rows, columns, dtype=torch.bool)
    border[half : rows - half, half : columns - half] = False
    series = {t("convolution.everywhere"): off.flatten(1).amax(1).clamp(min=SMALLEST_ERROR)}
    if half:
        series[t("convolution.border")] = off[:, border].amax(1).clamp(min=SMALLEST_ERROR)
    fig = curves(ALPHAS, series, x=Axis("α"), y=Axis(t("convolution.error"), log=True, grid=True), height=300)
    show_lines(fig, key="error_curve", alt=t("convolution.error_alt"))


def at_border(choice: PictureChoice) -> dict[str, Tensor]:
    """Differences of sharp heads from Conv2d with a repeated border, from Conv2d with zero padding, and from the latter
    again when the heads' picture has a ring of zeros.
    """
    image, kernel = choice.image, choice.kernel
    half, (rows, columns) = kernel.shape[-1] // 2, image.shape[1:]
    heads = heads_from_kernel(kernel, alpha=SHARP)
    output, zero = axial_layer(heads, image), conv2d(image[None], kernel, padding=half)[0]
    around = axial_layer(heads, pad(image, (half,) * 4))[:, half : half + rows, half : half + columns]
    return {"replicate": output - choice.torchs(), "zero": output - zero, "ring": around - zero}


def _border(context: ConvolutionContext, choice: PictureChoice, differences: Mapping[str, Tensor]) -> None:
    t, channel = context.t, choose_channel(context, choice)
    most = max(1e-12, *(float(off.abs().max()) for off in differences.values()))
    pictures = [
        Picture(
            title=t(f"convolution.border_{name}", off=number(float(off.abs().max()))),
            values=off[channel],
            low=-most,
            high=most,
            signed=True,
        )
        for name, off in differences.items()
    ]
    show_side_by_side(t, pictures, key="borders", alt=t("convolution.border_alt"))
    say(t("convolution.border_shows", alpha=number(SHARP)))


def lopsided(k: int) -> tuple[Tensor, Tensor]:
    """Return noise and an asymmetric kernel, so that a shift of the wrong sign gives another result.

    Example:
        >>> image, kernel = lopsided(3)
        >>> image.shape, torch.equal(kernel, kernel.flip(-1, -2))
        (torch.Size([1, 11, 13]), False)
    """
    generator = torch.Generator().manual_seed(0)
    return torch.rand(1, 11, 13, generator=generator), torch.arange(1.0, k * k + 1).reshape(1, 1, k, k) / k**2


def _checks(choice: PictureChoice, differences: Mapping[str, Tensor]) -> list[Check]:
    size = largest(choice.torchs())
    noise, kernel = lopsided(choice.kernel.shape[-1])
    expected = replicated(noise, kernel)
    off = axial_layer(heads_from_kernel(kernel, alpha=SHARP), noise) - expected
    alpha = number(SHARP)
    return [
        check("convolution.check_2d", differences["replicate"].abs().max(), 1e-5 * size, alpha=alpha),
        check("convolution.check_2d_lopsided", off.abs().max(), 1e-5 * largest(expected), alpha=alpha),
        check("convolution.check_ring", differences["ring"].abs().max(), 1e-5 * size),
    ]
