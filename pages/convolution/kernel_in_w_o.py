"""The blocks of W_O as cells of the kernel; the last step is a 1 x 1 convolution."""

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.picture import some_pixels
from pages.convolution.picture_choice import PictureChoice, choose, choose_channel
from viz import limits
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.checks import largest
from viz.core.variants.relative import QuadraticHeads, heads_from_kernel
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.text import Translate


def draw(context: ConvolutionContext) -> list[Check]:
    """A filter, and beside it W_O, its rows labelled with the place that each head looks at."""
    t, picture = context.t, st.container()
    choice = choose(context)
    i = choose_channel(context, choice) // len(choice.image) if len(choice.filters) > 1 else 0
    heads = heads_from_kernel(choice.kernel, alpha=SHARP)
    left, right = picture.columns([2, 3], gap="medium")
    with left:
        _filter(t, choice, i)
        H, (rows, columns) = len(heads.offset), heads.weights.w_o.shape
        say(t("convolution.w_o_says", H=H, rows=rows, columns=columns, c=len(choice.image)))
    with right:
        _w_o(t, heads, choice)
    return _checks(heads, choice)


def _filter(t: Translate, choice: PictureChoice, i: int) -> None:
    k, limit = choice.filters.shape[-1], float(choice.filters.abs().max()) or 1.0
    shifts, title = [str(shift - k // 2).replace("-", "−") for shift in range(k)], t("convolution.w_o_filter", i=i)
    st.subheader(title, anchor=False)
    down, right = Axis(shifts, t("convolution.down")), Axis(shifts, t("convolution.right"))
    matrix = Matrix(values=choice.filters[i], rows=down, columns=right, kind="signed", limit=limit, numbers=True)
    show_matrix(t, matrix, key="filter_cells", alt=title)


def _w_o(t: Translate, heads: QuadraticHeads, choice: PictureChoice) -> None:
    w_o, channels = heads.weights.w_o, range(len(choice.image))
    cells = [f"({int(row)}, {int(column)})".replace("-", "−") for row, column in heads.offset]
    rows = Axis([f"{cell} · {c}" for cell in cells for c in channels], t("convolution.w_o_rows"))
    columns = numbered(w_o.shape[1], t("convolution.w_o_columns"))
    has_numbers = w_o.numel() <= limits.PRINTED_CELLS
    matrix = Matrix(values=w_o, rows=rows, columns=columns, kind="signed", numbers=has_numbers)
    st.markdown("**W_O**")
    show_matrix(t, matrix, key="w_o_blocks", alt=t("convolution.w_o_alt"))


def cell_by_cell(kernel: Tensor) -> Tensor:
    """The kernel, (out, in, k, k), written into W_O's place number by number: row (cell, input channel)."""
    n_out, n_in, k, _ = kernel.shape
    w_o = torch.zeros(k * k * n_in, n_out)
    for row in range(k):
        for column in range(k):
            for c in range(n_in):
                w_o[(row * k + column) * n_in + c] = kernel[:, c, row, column]
    return w_o


def _checks(heads: QuadraticHeads, choice: PictureChoice) -> list[Check]:
    w_o = heads.weights.w_o
    trace = heads.trace(choice.image, some_pixels(heads, choice.image))
    as_picture = trace.concat.T[None, :, :, None]  # (1, H d_v, pixels, 1)
    through_1x1 = conv2d(as_picture, w_o.T[:, :, None, None])[0, :, :, 0].T
    return [
        check("convolution.check_blocks", (w_o - cell_by_cell(choice.kernel)).abs().max(), 0.0),
        check("convolution.check_1x1", (through_1x1 - trace.output).abs().max(), 1e-5 * largest(through_1x1)),
    ]
