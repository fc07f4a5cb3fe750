"""A head for each cell of a kernel, on a picture: centres are dragged, and the picture that comes out follows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from pages.convolution.link_numbers import reals
from pages.convolution.live_view import HIGHEST_ALPHA, HUES, VIEW, read_choice, view_words
from pages.convolution.picture_choice import PictureChoice, choose, choose_channel
from pages.convolution.side_by_side import shared_scale, show_side_by_side
from viz.components.head_grid import pack
from viz.components.maps import Picture
from viz.components.mount import count_choices, mount
from viz.core.analysis.checks import largest
from viz.core.variants.relative import QuadraticHeads, axial_layer, heads_from_kernel, kernel_offsets
from viz.frame import state
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say

KEY = "plane"
FARTHEST = 4.0
ALPHA = 5.0
CELLS = 400_000
"""Weights of whole maps, to which the cheaper way is held: 1.6 MB for each step of the attention, 15 ms in all."""


def draw(context: ConvolutionContext) -> list[Check]:
    """The plane of centres, where each head looks, what comes out; and the same beside torch's Conv2d."""
    picture = st.container()
    choice = choose(context, first=True)
    heads = chosen_heads(choice)
    with picture:
        pixel = _live(context, choice, heads)
    st.caption(context.t("convolution.live_note"))
    found = axial_layer(heads, choice.image)
    _beside_conv2d(context, choice, found)
    return _checks(heads, choice.image, found, pixel)


def chosen_heads(choice: PictureChoice) -> QuadraticHeads:
    """The kernel's heads, with the centres and sharpness that the visitor gave them."""
    heads = heads_from_kernel(choice.kernel, alpha=ALPHA)
    H = len(heads.offset)
    offset = reals(f"centres{H}", heads.offset.flatten().tolist(), -FARTHEST, FARTHEST)
    alpha = reals(f"alphas{H}", [ALPHA] * H, 0, HIGHEST_ALPHA)
    return replace(heads, offset=torch.tensor(offset).reshape(H, 2), alpha=torch.tensor(alpha))


def _live(context: ConvolutionContext, choice: PictureChoice, heads: QuadraticHeads) -> int:
    """The view in the browser; gives the number of the pixel that looks, in reading order."""
    H, grey = len(heads.offset), choice.image.mean(0)
    rows, columns = grey.shape
    row, column = state.whole("row", rows // 2, 0, rows - 1), state.whole("column", columns // 2, 0, columns - 1)
    chosen = {
        "offsets": _short(heads.offset),
        "alphas": _short(heads.alpha),
        "query": [row, column],
        "head": state.whole("dot", H // 2, 0, H - 1),
        "shared": state.flag("shared_alpha", True),
    }
    header = {
        "kind": "picture",
        "rows": rows,
        "columns": columns,
        "cells": kernel_offsets(choice.filters.shape[1:]).tolist(),
        "choice": chosen,
        "sent": count_choices(KEY),
        "hues": HUES,
        "words": view_words(context.scene),
    }
    data = pack(header, {"image": grey.float(), "kernel": choice.filters[0].flatten().float()}).data
    mount(VIEW, key=KEY, data=data, on_choice_change=_take)
    return row * columns + column


def _short(values: Tensor) -> Any:
    """Numbers as the link has them, without float32's last digits."""
    return values.double().round(decimals=4).tolist()


def _take() -> None:
    """Take over what was chosen in the browser."""
    sent = st.session_state[KEY].get("choice")
    if not isinstance(sent, Mapping) or not isinstance(sent.get("offsets"), list):
        return
    H = len(sent["offsets"])
    pairs = [pair for pair in sent["offsets"] if isinstance(pair, list) and len(pair) == 2]
    query = sent.get("query")
    flat = {**sent, "offsets": [number for pair in pairs for number in pair]}
    if isinstance(query, list) and len(query) == 2:
        flat |= {"row": query[0], "column": query[1]}
    found = read_choice(
        flat, {"offsets": f"centres{H}", "alphas": f"alphas{H}"}, {"head": "dot", "row": "row", "column": "column"}
    )
    found |= {"shared_alpha": bool(sent.get("shared"))}
    for name, value in found.items():
        state.put(name, value)


def _beside_conv2d(context: ConvolutionContext, choice: PictureChoice, found: Tensor) -> None:
    t, expected = context.t, choice.torchs()
    off = found - expected
    channel = choose_channel(context, choice, first=True)
    low, high = shared_scale(found[channel], expected[channel])
    most = max(float(off[channel].abs().max()), 1e-12)
    source = choice.image[channel % len(choice.image)]
    titles = [t("convolution.p_input"), t("convolution.p_attention"), t("convolution.p_difference", most=number(most))]
    pictures = [
        Picture(title=titles[0], values=source, low=0.0, high=1.0),
        Picture(title=titles[1], values=found[channel], low=low, high=high),
        Picture(title="Conv2d", values=expected[channel], low=low, high=high),
        Picture(title=titles[2], values=off[channel], low=-most, high=most, signed=True),
    ]
    error = number(float(off.abs().max()))
    sentence = t("convolution.compare_found", error=error, n=len(found), k=choice.kernel.shape[-1])
    show_side_by_side(t, pictures, key="compare", alt=sentence)
    say(sentence)


def some_pixels(heads: QuadraticHeads, image: Tensor) -> Tensor:
    """Pixels, evenly spaced, as many as can be asked for their whole maps."""
    pixels = image[0].numel()
    return torch.linspace(0, pixels - 1, min(pixels, max(1, CELLS // (len(heads.offset) * pixels)))).long()


def _checks(heads: QuadraticHeads, image: Tensor, found: Tensor, pixel: int) -> list[Check]:
    some, query = some_pixels(heads, image), torch.tensor([pixel])
    whole = heads.trace(image, some).output.T
    off = (whole - found.flatten(1)[:, some]).abs().max()
    looks = by_hand.softmax(by_hand.window_scores(heads.offset, heads.alpha, image.shape[1:], query))
    seen = (heads.trace(image, query).weights - looks).abs().max()
    row, column = divmod(pixel, image.shape[2])
    return [
        check("convolution.check_seen", seen, 1e-5, row=row, column=column),
        check("convolution.check_axial", off, 1e-4 * largest(found), n=len(some)),
    ]
