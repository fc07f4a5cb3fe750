"""A head is no kernel: it fetches the picture, shifted; W_O weighs it by a 1 x 1 convolution; all heads add up."""

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.picture_choice import replicated
from pages.convolution.side_by_side import shared_scale, show_side_by_side
from pages.convolution.slips.mirrored import choose_kernel, grey_scene
from viz.components.maps import Picture
from viz.core.analysis.checks import largest, worst
from viz.core.variants.relative import QuadraticHeads, axial_layer, heads_from_kernel, value_heads
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.params import Int

FORMULA = (
    r"[\,x_{q+\Delta_1}, \dots, x_{q+\Delta_H}]\, W_O"
    r" = \sum_h \underbrace{x_{q+\Delta_h}\, W_O^{(h)}}_{1 \times 1 \text{ convolution}}"
)
CODE = (value_heads,)
CELLS = 9
SLIP_HEADS = Int("slip_heads", 4, low=1, high=CELLS)


def draw(context: ConvolutionContext) -> list[Check]:
    """Render the last head's picture, its product with W_O, the sum so far, and the whole convolution."""
    t, image = context.t, grey_scene()
    with st.container(horizontal=True, gap="large"):
        kernel = choose_kernel(t)
        m = SLIP_HEADS.slider(t("convolution.slips.heads"), width=380)
    heads = heads_from_kernel(kernel, alpha=SHARP)
    fetched = torch.cat([fetch(heads, i, image) for i in range(m)])
    weighed = fetched * kernel.flatten()[:m, None, None]
    so_far, expected = weighed.sum(0), replicated(image, kernel)[0]
    row, column = (number(float(step)) for step in heads.offset[m - 1])
    names = {"head": m - 1, "m": m, "row": row, "column": column, "w": number(float(kernel.flatten()[m - 1]), 3)}
    pictures_by_name = {"fetched": fetched[-1], "weighed": weighed[-1], "sum": so_far, "torch": expected}
    pictures = []
    for name, values in pictures_by_name.items():
        low, high = (0.0, 1.0) if name == "fetched" else shared_scale(weighed[-1], so_far, expected)
        pictures.append(Picture(title=t(f"convolution.slips.tap_{name}", **names), values=values, low=low, high=high))
    sentence = t("convolution.slips.tap_found", m=m, off=number(float((so_far - expected).abs().max())))
    show_side_by_side(t, pictures, key="slip_tap", alt=sentence)
    say(sentence)
    say(t("convolution.slips.tap_says"))
    return [_check_fetched(heads, image), *_check_channels()]


def fetch(heads: QuadraticHeads, i: int, image: Tensor) -> Tensor:
    """The output of head i before W_O: the picture, shifted."""
    single_head = value_heads(heads.offset[i : i + 1], heads.alpha[i : i + 1], torch.eye(len(image))[None])
    return axial_layer(single_head, image)


def cut_out(image: Tensor, row: int, column: int, most: int = 1) -> Tensor:
    """The picture shifted (down, right) by at most ``most`` pixels: cut out of one whose border is repeated."""
    rows, columns = image.shape[1:]
    around = pad(image[None], (most,) * 4, mode="replicate")[0]
    return around[:, most + row : most + row + rows, most + column : most + column + columns]


def _check_fetched(heads: QuadraticHeads, image: Tensor) -> Check:
    off = worst(
        (fetch(heads, row * 3 + column, image) - cut_out(image, row - 1, column - 1)).abs().max()
        for row in range(3)
        for column in range(3)
    )
    return check("convolution.slips.check_fetched", off, 1e-5)


def _check_channels() -> list[Check]:
    """Noise of three channels, a kernel to four: W_O after the concatenation against nine 1 x 1 convolutions added."""
    generator = torch.Generator().manual_seed(0)
    noise, kernel = torch.rand(3, 7, 11, generator=generator), torch.randn(4, 3, 3, 3, generator=generator)
    layer = heads_from_kernel(kernel, alpha=SHARP).layer(noise)
    expected = torch.stack(
        [
            conv2d(cut_out(noise, row - 1, column - 1)[None], kernel[:, :, row, column, None, None])[0]
            for row in range(3)
            for column in range(3)
        ]
    ).sum(0)
    size = 1e-5 * largest(expected)
    return [
        check("convolution.slips.check_added", (layer - expected).abs().max(), size),
        check("convolution.slips.check_added_conv", (expected - replicated(noise, kernel)).abs().max(), size),
    ]
