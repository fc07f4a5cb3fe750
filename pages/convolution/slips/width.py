"""Heads whose values are too narrow: a cell's matrix does not fit through d_v numbers."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.picture_choice import replicated
from viz.components.matrix import Matrix, numbered
from viz.core.analysis.checks import largest
from viz.core.mistakes.relative import narrow_heads
from viz.core.variants.relative import QuadraticHeads
from viz.figures.curves import curves
from viz.figures.line_chart import Axis, Mark
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.show import show_lines, show_matrix
from viz.params import Int

FORMULA = (
    r"\begin{gathered} W_V^{(h)} W_O^{(h)} = w_{\cdot,\cdot,\Delta_h}^\top: \; D_{in} \times D_{out}"
    r" \\ \operatorname{rank} \le d_v \quad\Rightarrow\quad d_v \ge \min(D_{in}, D_{out}) \end{gathered}"
)
CODE = (narrow_heads,)
WIDEST = 6
SLIP_WIDTH = Int("slip_width", 2, low=1, high=WIDEST)
SLIP_IN = Int("slip_in", 3, low=1, high=WIDEST)
SLIP_OUT = Int("slip_out", 4, low=1, high=WIDEST)
MIDDLE = 4
"""The cell of a 3 x 3 kernel whose matrix is shown."""
SMALLEST_ERROR = 1e-9
"""The smallest error on the logarithmic axis: none at all has no place there."""


def draw(context: ConvolutionContext) -> list[Check]:
    """A cell's matrix, what heads of this width make of it, and the layer's error for every width."""
    t, pictures = context.t, st.container()
    with st.container(horizontal=True, gap="large"):
        d_v = SLIP_WIDTH.slider(t("convolution.slips.d_v"), width=240)
        d_in = SLIP_IN.slider(t("convolution.slips.d_in"), width=240)
        d_out = SLIP_OUT.slider(t("convolution.slips.d_out"), width=240)
    noise, kernel = noise_and_kernel(d_in, d_out)
    expected, errors, heads_by_width = replicated(noise, kernel), [], {}
    for width in range(1, WIDEST + 1):
        heads_by_width[width] = narrow_heads(kernel, width, alpha=SHARP)
        errors.append(float((heads_by_width[width].layer(noise) - expected).abs().max()))
    with pictures:
        _cells(context, kernel, heads_by_width[d_v], d_v)
        _say(context, heads_by_width[d_v], d_v, d_in, d_out, errors[d_v - 1])
    _curve(context, errors, min(d_in, d_out))
    return _checks(kernel, noise, heads_by_width[d_v], d_v)


def noise_and_kernel(d_in: int, d_out: int) -> tuple[Tensor, Tensor]:
    """A small picture (d_in, 5, 7) and a kernel (d_out, d_in, 3, 3) of random numbers, always the same."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(d_in, 5, 7, generator=generator), torch.randn(d_out, d_in, 3, 3, generator=generator)


def value_output_products(heads: QuadraticHeads) -> Tensor:
    """W_V times W_O of every head, (H, d_in, d_out): all that can pass from a pixel to the output."""
    spec = heads.weights.spec
    w_v = heads.weights.w_v.unflatten(1, (spec.H, spec.d_v)).transpose(0, 1)
    return w_v @ heads.weights.w_o.unflatten(0, (spec.H, spec.d_v))


def _cells(context: ConvolutionContext, kernel: Tensor, heads: QuadraticHeads, d_v: int) -> None:
    t, expected = context.t, kernel.flatten(2)[..., MIDDLE].T
    products, limit = value_output_products(heads)[MIDDLE], float(kernel.abs().max())
    for column, (name, values) in zip(st.columns(2), (("wanted", expected), ("held", products)), strict=True):
        rank = int(torch.linalg.matrix_rank(values, rtol=1e-4))
        title = t(f"convolution.slips.width_{name}", d_v=d_v, rank=rank)
        with column:
            say(title)
            rows, columns = (numbered(size, t(f"convolution.slips.{code}")) for size, code in _sides(values))
            matrix = Matrix(
                values=values, rows=rows, columns=columns, kind="signed",
                limit=limit, numbers=True, low=True, scale=False,
            )  # fmt: skip
            show_matrix(t, matrix, key=f"slip_cell_{name}", alt=title)


def _sides(values: Tensor) -> list[tuple[int, str]]:
    return list(zip(values.shape, ("channel_in", "channel_out"), strict=True))


def _say(context: ConvolutionContext, heads: QuadraticHeads, d_v: int, d_in: int, d_out: int, error: float) -> None:
    sizes = {"d_v": d_v, "needed": min(d_in, d_out), "H": heads.weights.spec.H}
    say(context.t("convolution.slips.width_found", error=number(error), **sizes))


def _curve(context: ConvolutionContext, errors: list[float], needed: int) -> None:
    t = context.t
    title = t("convolution.slips.width_error")
    marks = [Mark(x=needed, label=t("convolution.slips.width_mark", needed=needed))]
    series = {title: torch.tensor(errors).clamp(min=SMALLEST_ERROR)}
    x, y = Axis(t("convolution.slips.d_v")), Axis(title, log=True, grid=True)
    fig = curves(range(1, WIDEST + 1), series, x=x, y=y, dots=True, marks=marks, height=240)
    show_lines(fig, key="slip_width_curve", alt=t("convolution.slips.width_alt", needed=needed))


def _checks(kernel: Tensor, noise: Tensor, heads: QuadraticHeads, d_v: int) -> list[Check]:
    cells = kernel.double().flatten(2).permute(2, 1, 0).numpy()
    left, sizes, right = np.linalg.svd(cells, full_matrices=False)
    nearest = torch.from_numpy((left[..., :d_v] * sizes[:, None, :d_v]) @ right[:, :d_v])
    lost = np.sqrt((sizes[:, d_v:] ** 2).sum(-1))
    errors = (value_output_products(heads) - torch.from_numpy(cells)).norm(dim=(1, 2))
    expected = replicated(noise, nearest.permute(2, 1, 0).reshape(kernel.shape).float())
    return [
        check("convolution.slips.check_rank", np.abs(errors.numpy() - lost).max(), 1e-5, d_v=d_v),
        check("convolution.slips.check_narrow", (heads.layer(noise) - expected).abs().max(), 1e-5 * largest(expected)),
    ]
