"""A head for each cell of a kernel, on a picture: centres are dragged, and the picture that comes out follows."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from pages.convolution.link_numbers import read_reals, reals, write_reals
from pages.convolution.live_view import ALPHA, HIGHEST_ALPHA, live_view
from pages.convolution.picture_choice import PictureChoice, choose, choose_channel
from pages.convolution.side_by_side import shared_scale, show_side_by_side
from viz import limits
from viz.components.head_grid import pack
from viz.components.kinds import Fields, Integer, Many, Real
from viz.components.kinds import Flag as Switch
from viz.components.maps import Picture
from viz.core.analysis.checks import largest
from viz.core.variants.relative import QuadraticHeads, axial_layer, heads_from_kernel, kernel_offsets
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.params import Flag, Int, Text

FARTHEST = 4.0
DEFAULT_ALPHA = 5.0
MOST = 25
"""Cells of the largest kernel."""
SHIFT, PIXEL = Real(-FARTHEST, FARTHEST), Integer(0, limits.PICTURE_SIDE - 1)
CHOICE = Fields(
    offsets=Many(Many(SHIFT, 2, 2), MOST),
    alphas=Many(ALPHA, MOST),
    query=Many(PIXEL, 2, 2),
    head=Integer(0, MOST - 1),
    shared=Switch(),
)
VIEW = live_view(CHOICE)
CELLS = 400_000
"""Weights of whole maps, to which the cheaper way is held: 1.6 MB for each step of the attention, 15 ms in all."""


def draw(context: ConvolutionContext) -> list[Check]:
    """The plane of centres, where each head looks, what comes out; and the same beside torch's Conv2d."""
    picture = st.container()
    choice = choose(context)
    heads = chosen_heads(choice)
    with picture:
        pixel = _live(context, choice, heads)
    st.caption(context.t("convolution.live_note"))
    output = axial_layer(heads, choice.image)
    _beside_conv2d(context, choice, output)
    return _checks(heads, choice.image, output, pixel)


ROW = Int("row", lambda n: n // 2, high=lambda n: n - 1)
COLUMN, DOT = ROW.variant(name="column"), ROW.variant(name="dot")
SHARED_ALPHA = Flag("shared_alpha", True)


def _centres(H: int, default: Tensor | None = None) -> Text:
    """The parameter of the centres of H heads, two numbers each."""
    return reals(f"centres{H}", [0.0] * 2 * H if default is None else default.flatten().tolist(), -FARTHEST, FARTHEST)


def _sharpness(H: int) -> Text:
    """The parameter of the alpha of H heads."""
    return reals(f"alphas{H}", [DEFAULT_ALPHA] * H, 0, HIGHEST_ALPHA)


def chosen_heads(choice: PictureChoice) -> QuadraticHeads:
    """The kernel's heads, with the centres and sharpness that the user set."""
    heads = heads_from_kernel(choice.kernel, alpha=DEFAULT_ALPHA)
    H = len(heads.offset)
    offset = read_reals(_centres(H, heads.offset).read())
    alpha = read_reals(_sharpness(H).read())
    return replace(heads, offset=torch.tensor(offset).reshape(H, 2), alpha=torch.tensor(alpha))


def _live(context: ConvolutionContext, choice: PictureChoice, heads: QuadraticHeads) -> int:
    """Mount the view; return the index of the query pixel in reading order."""
    H, grey = len(heads.offset), choice.image.mean(0)
    rows, columns = grey.shape
    row, column = ROW.read(rows), COLUMN.read(columns)
    selection = {
        "offsets": _short(heads.offset),
        "alphas": _short(heads.alpha),
        "query": [row, column],
        "head": DOT.read(H),
        "shared": SHARED_ALPHA.read(),
    }
    header = {
        "kind": "picture",
        "rows": rows,
        "columns": columns,
        "cells": kernel_offsets(choice.filters.shape[1:]).tolist(),
        "choice": selection,
    }
    data = pack(header, {"image": grey.float(), "kernel": choice.filters[0].flatten().float()}).data
    VIEW.mount(key="plane", data=data, on={"choice": partial(_choose, H)})
    return row * columns + column


def _short(values: Tensor) -> Any:
    """Numbers as the link has them, without float32's last digits."""
    return values.double().round(decimals=4).tolist()


def _choose(H: int, choice: Mapping[str, Any]) -> None:
    """Store the choice if it is for H heads."""
    if not len(choice["offsets"]) == len(choice["alphas"]) == H:
        return
    _centres(H).set(write_reals([shift for offset in choice["offsets"] for shift in offset]))
    _sharpness(H).set(write_reals(choice["alphas"]))
    ROW.set(choice["query"][0])
    COLUMN.set(choice["query"][1])
    DOT.set(choice["head"])
    SHARED_ALPHA.set(choice["shared"])


def _beside_conv2d(context: ConvolutionContext, choice: PictureChoice, output: Tensor) -> None:
    t, expected = context.t, choice.torchs()
    off = output - expected
    channel = choose_channel(context, choice)
    low, high = shared_scale(output[channel], expected[channel])
    most = max(float(off[channel].abs().max()), 1e-12)
    source = choice.image[channel % len(choice.image)]
    titles = [t("convolution.p_input"), t("convolution.p_attention"), t("convolution.p_difference", most=number(most))]
    pictures = [
        Picture(title=titles[0], values=source, low=0.0, high=1.0),
        Picture(title=titles[1], values=output[channel], low=low, high=high),
        Picture(title="Conv2d", values=expected[channel], low=low, high=high),
        Picture(title=titles[2], values=off[channel], low=-most, high=most, signed=True),
    ]
    error = number(float(off.abs().max()))
    sentence = t("convolution.compare_found", error=error, n=len(output), k=choice.kernel.shape[-1])
    show_side_by_side(t, pictures, key="compare", alt=sentence)
    say(sentence)


def some_pixels(heads: QuadraticHeads, image: Tensor) -> Tensor:
    """Pixels, evenly spaced, as many as can be asked for their whole maps."""
    pixels = image[0].numel()
    return torch.linspace(0, pixels - 1, min(pixels, max(1, CELLS // (len(heads.offset) * pixels)))).long()


def _checks(heads: QuadraticHeads, image: Tensor, output: Tensor, pixel: int) -> list[Check]:
    some, query = some_pixels(heads, image), torch.tensor([pixel])
    full_output = heads.trace(image, some).output.T
    off = (full_output - output.flatten(1)[:, some]).abs().max()
    looks = by_hand.softmax(by_hand.window_scores(heads.offset, heads.alpha, image.shape[1:], query))
    error = (heads.trace(image, query).weights - looks).abs().max()
    row, column = divmod(pixel, image.shape[2])
    return [
        check("convolution.check_seen", error, 1e-5, row=row, column=column),
        check("convolution.check_axial", off, 1e-4 * largest(output), n=len(some)),
    ]
