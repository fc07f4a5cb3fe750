"""The heads beside torch's Conv2d: outputs, difference, error against alpha, borders, and the blocks of W_O."""

from itertools import product

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from viz.core.relative import QuadraticHeads, axial_layer, heads_from_kernel
from viz.figures.lesson import lines
from viz.figures.matrix import matrix
from viz.figures.pictures import Panel, pictures, shared_scale
from viz.ui import compute_convolution, limits, state
from viz.ui.compute_convolution import Numbers
from viz.ui.controls import KEEP
from viz.ui.convolution import SHARP, Bench
from viz.ui.layout import check, show
from viz.ui.picture import Setting

ALPHAS = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 46.0)
CELLS = 400_000
"""Weights of whole maps, to which the cheaper way is held: 1.6 MB for each step of the attention, 15 ms in all."""


def asked(heads: QuadraticHeads, image: Tensor) -> Tensor:
    """Pixels, evenly spaced, as many as can be asked for their whole maps."""
    pixels = image[0].numel()
    return torch.linspace(0, pixels - 1, min(pixels, max(1, CELLS // (len(heads.offset) * pixels)))).long()


def compare(bench: Bench, setting: Setting) -> None:
    """The layer beside torch's Conv2d: outputs, difference, error against alpha, and the border."""
    t, image, kernel = bench.t, setting.image, setting.kernel
    half = kernel.shape[-1] // 2
    expected = conv2d(pad(image[None], (half,) * 4, mode="replicate"), kernel)[0]
    names = [f"{f} · {c}" for f, c in product(range(len(setting.filters)), range(len(image)))]
    channel = state.whole("channel", 0, 0, len(names) - 1)
    if len(names) > 1:
        st.selectbox(
            t("convolution.channel"),
            range(len(names)),
            key="channel",
            persist_state=KEEP,
            format_func=names.__getitem__,
        )
    found = axial_layer(setting.heads, image)
    error = float((found - expected).abs().max())
    sentence = t("convolution.compare_found", error=f"{error:.2e}", n=len(names), k=kernel.shape[-1])
    st.markdown(sentence)
    low, high = shared_scale(found[channel], expected[channel])
    most = max(float((found - expected)[channel].abs().max()), 1e-12)
    source = image[channel % len(image)]
    panels = [
        Panel(title=t("convolution.p_input"), values=source, low=0.0, high=1.0),
        Panel(title=t("convolution.p_attention"), values=found[channel], low=low, high=high),
        Panel(title="Conv2d", values=expected[channel], low=low, high=high),
        Panel(
            title=t("convolution.p_difference"), note=f"± {most:.1e}", values=(found - expected)[channel], low=-most,
            high=most, signed=True,
        ),
    ]  # fmt: skip
    show(pictures(panels), key="compare", alt=sentence)
    exact = heads_from_kernel(kernel, alpha=SHARP)
    size = max(1.0, float(expected.abs().max()))
    sharp = axial_layer(exact, image)
    bench.checks.append(check("convolution.check_2d", (sharp - expected).abs().max(), 1e-5 * size, alpha=f"{SHARP:g}"))
    some = asked(setting.heads, image)
    whole = setting.heads.trace(image, some).output.T
    off = (whole - found.flatten(1)[:, some]).abs().max()
    bench.checks.append(check("convolution.check_axial", off, 1e-4 * size, n=len(some)))


def error_curve(bench: Bench, setting: Setting) -> None:
    """The error falls as alpha grows, with the centres on the kernel's cells."""
    t, image, kernel = bench.t, setting.image, setting.kernel
    half = kernel.shape[-1] // 2
    expected = conv2d(pad(image[None], (half,) * 4, mode="replicate"), kernel)[0]
    off = (compute_convolution.sharpened(Numbers.of(image), Numbers.of(kernel), ALPHAS) - expected).abs().amax(1)
    border = torch.ones_like(off[0]).bool()
    border[half : image.shape[1] - half, half : image.shape[2] - half] = False
    series = {t("convolution.everywhere"): torch.stack([each.max() for each in off]).clamp(min=1e-9)}
    if half:
        series[t("convolution.border")] = torch.stack([each[border].max() for each in off]).clamp(min=1e-9)
    fig = lines(
        ALPHAS, series, at_title="α", value_title=t("convolution.error"), log_values=True, height=260,
    )  # fmt: skip
    show(fig, key="error_curve", alt=t("convolution.error_alt"))


def borders(bench: Bench, setting: Setting) -> None:
    """Attention is replicate padding; zero padding differs at the border, unless zeros are really put there."""
    t, image, kernel = bench.t, setting.image, setting.kernel
    half = kernel.shape[-1] // 2
    ring = (half,) * 4
    heads = heads_from_kernel(kernel, alpha=SHARP)
    found = axial_layer(heads, image)
    zero = conv2d(image[None], kernel, padding=half)[0]
    replicate = conv2d(pad(image[None], ring, mode="replicate"), kernel)[0]
    rows, columns = image.shape[1:]
    around = axial_layer(heads, pad(image, ring))[:, half : half + rows, half : half + columns]
    channel = st.session_state.get("channel", 0)
    pairs = {"border_replicate": found - replicate, "border_zero": found - zero, "border_ring": around - zero}
    most = max(1e-12, *(float(each.abs().max()) for each in pairs.values()))
    panels = [
        Panel(
            title=t(f"convolution.{name}"), note=f"{float(each.abs().max()):.1e}", values=each[channel], low=-most,
            high=most, signed=True,
        )
        for name, each in pairs.items()
    ]  # fmt: skip
    alt = t("convolution.border_alt")
    if torch.equal(zero, replicate):
        alt = t("convolution.border_inside" if _edge(image).any() else "convolution.border_black")
        st.info(alt)
    show(pictures(panels, across=3), key="borders", alt=alt)


def _edge(image: Tensor) -> Tensor:
    """The outermost pixels, which replicate padding repeats."""
    return torch.cat([image[:, [0, -1]].flatten(), image[:, :, [0, -1]].flatten()])


def blocks(bench: Bench, setting: Setting) -> None:
    """Which block of W_O is which cell of the kernel, and that this last step is a 1 x 1 convolution."""
    t, heads = bench.t, heads_from_kernel(setting.kernel, alpha=SHARP)
    w_o = heads.weights.w_o
    channels, k = len(setting.image), setting.kernel.shape[-1]
    cells = [f"({int(row)}, {int(column)})" for row, column in heads.offset]
    rows = [f"{cell} · {c}" for cell, c in product(cells, range(channels))]
    columns = [str(i) for i in range(w_o.shape[1])]
    fig = matrix(
        w_o, rows, columns, kind="signed", row_title=t("convolution.w_o_rows"),
        column_title=t("convolution.w_o_columns"), numbers=w_o.numel() <= limits.PRINTED_CELLS,
    )  # fmt: skip
    st.markdown(t("convolution.w_o_says", H=k * k, rows=w_o.shape[0], columns=w_o.shape[1], c=channels))
    show(fig, key="w_o_blocks", alt=t("convolution.w_o_alt"))
    trace = heads.trace(setting.image, asked(heads, setting.image))
    as_picture = trace.concat.T[None, :, :, None]  # (1, H d_v, pixels, 1)
    one = conv2d(as_picture, w_o.T[:, :, None, None])[0, :, :, 0].T
    size = max(1.0, float(one.abs().max()))
    bench.checks.append(check("convolution.check_1x1", (one - trace.output).abs().max(), 1e-5 * size))
