"""A table that sets convolution beside attention, line by line: what a line claims is computed, or cited."""

from typing import Any

import streamlit as st
import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d

from pages.convolution import by_hand
from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.picture_choice import replicated
from viz.core.analysis.checks import largest, worst
from viz.core.attention import attend, row_softmax
from viz.core.heads import MultiHeadTrace
from viz.core.variants.relative import QuadraticHeads, heads_from_kernel, quadratic_scores
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.text import paragraph

ROWS = ("near", "learned", "far", "local", "depth")
"""Lines of the table; the last is cited, all others are computed."""
K, D_IN, D_OUT = 3, 3, 4
LOCAL = {"close": (2.0, 0.0), "even": (0.0, 0.0), "away": (2.0, 4.0)}
"""α and Δ of three heads: one looks around itself, one everywhere alike, one four places ahead."""
PLACES, MIDDLE = 13, 6
PER_HEAD = 3
"""Numbers that a head learns of where it looks: two for its centre, one for its sharpness."""


def draw(context: ConvolutionContext) -> list[Check]:
    """Draw a table with a row for each claim: a convolution, heads by position, and the check."""
    t = context.t
    noise, kernel = example()
    heads = heads_from_kernel(kernel, alpha=SHARP)
    values = {**_of_text(context), **_of_layer(heads, kernel)}
    names = (t(f"convolution.comparison.{column}") for column in ("claim", "convolution", "attention"))
    lines = [f"| {' | '.join(names)} |", "|---|---|---|"]
    for row in ROWS:
        claim, conv, attention = (
            t(f"convolution.comparison.{row}_{cell}", **values) for cell in ("says", "conv", "heads")
        )
        verdict = t(f"convolution.comparison.{row}_verdict")
        lines.append(f"| {paragraph(claim, f'**{verdict}**')} | {conv} | {attention} |")
    st.markdown("\n".join(lines))
    st.caption(t("convolution.comparison.note", d_in=D_IN, d_out=D_OUT))
    return _checks(context, heads, noise, kernel)


def example() -> tuple[Tensor, Tensor]:
    """A small picture of noise (3, 7, 8) and a kernel (4, 3, 3, 3), always the same."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(D_IN, 7, 8, generator=generator), torch.randn(D_OUT, D_IN, K, K, generator=generator) / K


def _of_text(context: ConvolutionContext) -> dict[str, Any]:
    """The change of a map when the words are reversed, and the layers a stack needs to cross the text."""
    n = len(context.scene.labels)
    fixed, moves = (weight_change(context.scene.trace, context.n, mix) for mix in (0.0, 1.0))
    return {"n": n, "layers": layers_to_cross(n, K), "fixed": number(fixed), "moves": part(moves)}


def weight_change(trace: MultiHeadTrace, n: int, mix: float) -> float:
    """The change of a window's weights, with the first head's content mixed in, when the words are reversed."""
    q, k = trace.q[0, :n], trace.k[0, :n]
    bias = quadratic_scores(torch.zeros(1, 1), torch.ones(1), (n,))[0]
    as_written, reversed_words = (
        attend(a, b, b, bias=bias, scale=mix * trace.scale).weights for a, b in ((q, k), (q.flip(0), k.flip(0)))
    )
    return float((as_written - reversed_words).abs().max())


def layers_to_cross(n: int, k: int) -> int:
    """Layers of a centred convolution until the last of n tokens has something of the first."""
    return -(-(n - 1) // (k // 2))


def _of_layer(heads: QuadraticHeads, kernel: Tensor) -> dict[str, Any]:
    """Counts of the layer that is made of the kernel, and the shares of heads that look nearby or not."""
    return {
        "k": K,
        "kernel_numbers": kernel.numel(),
        "w_o_numbers": heads.weights.w_o.numel(),
        "place_numbers": PER_HEAD * len(heads.offset),
        **{name: part(share) for name, share in shares_near().items()},
    }


def shares_near() -> dict[str, float]:
    """The weight of three heads on places at most one away from the query."""
    alpha, delta = (torch.tensor(column) for column in zip(*LOCAL.values(), strict=True))
    weights = row_softmax(quadratic_scores(delta[:, None], alpha, (PLACES,)))[:, MIDDLE]
    return dict(zip(LOCAL, weights[:, MIDDLE - 1 : MIDDLE + 2].sum(-1).tolist(), strict=True))


def _checks(context: ConvolutionContext, heads: QuadraticHeads, noise: Tensor, kernel: Tensor) -> list[Check]:
    n, expected = len(context.scene.labels), replicated(noise, kernel)
    by_torch = nn.Conv2d(D_IN, D_OUT, K, bias=False, device="meta").weight.numel()
    windows = [
        by_hand.softmax(by_hand.window_scores(torch.tensor([[delta]]), torch.tensor([alpha]), (PLACES,)))[0, MIDDLE]
        for alpha, delta in LOCAL.values()
    ]
    near = [float(row[MIDDLE - 1 : MIDDLE + 2].sum()) for row in windows]
    off = worst(abs(a - b) for a, b in zip(near, shares_near().values(), strict=True))
    error = (heads.layer(noise) - expected).abs().max()
    return [
        check("convolution.comparison.check_layer", error, 1e-5 * largest(expected)),
        check("convolution.comparison.check_numbers", abs(by_torch - heads.weights.w_o.numel()), 0.0, n=by_torch),
        check("convolution.comparison.check_near", off, 1e-5),
        check("convolution.comparison.check_fixed", weight_change(context.scene.trace, context.n, 0.0), 1e-6),
        check("convolution.comparison.check_far", abs(crossed(n, K) - layers_to_cross(n, K)), 0.0, n=n),
    ]


def crossed(n: int, k: int) -> int:
    """The number of torch conv1d layers until the first of n tokens reaches the last."""
    signal, kernel, layers = torch.zeros(1, 1, n), torch.ones(1, 1, k), 0
    signal[..., 0] = 1
    while not signal[..., -1].item():
        signal, layers = (conv1d(signal, kernel, padding=k // 2) > 0).float(), layers + 1
    return layers
