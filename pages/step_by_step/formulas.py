"""The formulas of the nine steps with this text's shapes, in the letters of :mod:`viz.core`."""

import math
from collections.abc import Sequence

from torch import Tensor

from pages.step_by_step.context import StepByStepContext


def number(value: float) -> str:
    """Format a number for a formula: four decimals, or a power of ten for very small and very large ones."""
    if math.isnan(value):
        return r"\mathrm{NaN}"
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4f}"
    digits, power = f"{value:.4e}".split("e")
    return rf"{digits}\times 10^{{{int(power)}}}"


def signed(value: float) -> str:
    """Format a number as :func:`number` does, with brackets around a negative one."""
    return f"({number(value)})" if value < 0 else number(value)


def _times(shape: Sequence[int]) -> str:
    return r" \times ".join(map(str, shape))


def shaped(symbol: str, *shape: int) -> str:
    """A symbol with its shape below."""
    return rf"\underset{{{_times(shape)}}}{{{symbol}}}"


def weight(name: str, index: int) -> str:
    """A head's matrix or bias, e.g. W_Q^(1)."""
    return f"{name}^{{({index})}}"


def _set(symbol: str, values: Tensor) -> str:
    return rf"{symbol} \in \mathbb{{R}}^{{{_times(values.shape)}}}"


def tokens(context: StepByStepContext) -> str:
    """X, or the latent vectors that W_Q, W_K and W_V read instead."""
    sets = [_set(symbol, values) for symbol, values in dict(map(context.rows_of, "QKV")).items()]
    return _lines(sets) if len(sets) > 1 else sets[0]


def learned(context: StepByStepContext) -> str:
    """W_Q, W_K, W_V, and which of them are shared."""
    sets = []
    for letter, (index, matrix, bias) in context.projections.items():
        sets.append(_set(weight(f"W_{letter}", index), matrix))
        if bias is not None:
            sets[-1] += r",\; " + _set(weight(f"b_{letter}", index), bias)
    if context.spec.kind != "MHA":
        H, G = context.spec.H, context.spec.G
        sets.append(rf"g({context.head}) = \lfloor {context.head} \cdot {G} / {H} \rfloor = {context.group}")
    return _lines(sets)


STEPS_AFTER = {"normed": ("norm", "RoPE"), "turned_normed": ("RoPE", "norm"), "only_normed": ("norm",)}
"""The steps of Q and K after the projection, in order; RoPE alone for a kind that is not listed."""


def projected(context: StepByStepContext) -> str:
    """Q, K, V."""
    lines = []
    for letter, (index, matrix, bias) in context.projections.items():
        symbol, rows = context.rows_of(letter)
        right = shaped(symbol, *rows.shape) + r"\," + shaped(weight(f"W_{letter}", index), *matrix.shape)
        if bias is not None:
            right += " + " + weight(f"b_{letter}", index)
        if context.is_changed and letter != "V":
            for step in STEPS_AFTER.get(context.scene.call.rotation, ("RoPE",)):
                right = rf"\operatorname{{{step}}}\bigl({right}\bigr)"
        if letter == "V" and context.scene.call.value_eps is not None:
            right = rf"\operatorname{{norm}}\bigl({right}\bigr)"
        lines.append(f"{shaped(letter, len(rows), matrix.shape[1])} = {right}")
    return _lines(lines)


def scores(context: StepByStepContext) -> str:
    """Q K^T."""
    (n_queries, n_keys), d_k = context.trace.scores.shape[-2:], context.spec.d_k
    product = shaped("Q", n_queries, d_k) + r"\," + shaped(r"K^{\top}", d_k, n_keys)
    return rf"{shaped('S', n_queries, n_keys)} = {product}, \qquad S_{{ij}} = q_i \cdot k_j"


def by_root(context: StepByStepContext) -> bool:
    """Return True if the scale is 1/sqrt(d_k), as in the paper; a model may have another."""
    return math.isclose(context.trace.scale, context.spec.d_k**-0.5, rel_tol=1e-6)


def scaling(context: StepByStepContext, symbol: str) -> str:
    """The scaled form of a symbol."""
    if by_root(context):
        return rf"\frac{{{symbol}}}{{\sqrt{{{context.spec.d_k}}}}}"
    return rf"{number(context.trace.scale)} \cdot {symbol}"


def scaled(context: StepByStepContext) -> str:
    """The scaled scores."""
    left_side = shaped("S'", *context.trace.scaled.shape[-2:])
    if by_root(context):
        root = number(context.spec.d_k**0.5)
        return rf"{left_side} = \frac{{S}}{{\sqrt{{d_k}}}} = {scaling(context, 'S')} = \frac{{S}}{{{root}}}"
    return f"{left_side} = {scaling(context, 'S')}"


def masked(context: StepByStepContext) -> str:
    """The masked scores, which the softmax reads."""
    inside = "S'_{ij}"
    if context.options["score_mod"] is not None:
        inside = r"c \tanh(S'_{ij} / c)"
    if context.options["bias"] is not None:
        inside += " + B_{ij}"
    left_side = shaped(r"\tilde S", *context.trace.masked.shape[-2:])
    return (
        rf"{left_side}:\quad \tilde S_{{ij}} = \begin{{cases}} {inside} & j \in \operatorname{{allowed}}(i) \\"
        r" -\infty & j \notin \operatorname{allowed}(i) \end{cases}"
    )


def weights(context: StepByStepContext) -> str:
    """The softmax of each row."""
    left_side = shaped("A", *context.trace.weights.shape[-2:])
    return (
        rf"{left_side} = \operatorname{{softmax}}(\tilde S), \qquad "
        r"A_{ij} = \frac{e^{\tilde S_{ij}}}{\sum_m e^{\tilde S_{im}}}"
    )


def output(context: StepByStepContext) -> str:
    """Z = A V."""
    (n_queries, n_keys), d_v = context.trace.weights.shape[-2:], context.spec.d_v
    product = shaped("A", n_queries, n_keys) + r"\," + shaped("V", n_keys, d_v)
    return rf"{shaped('Z', n_queries, d_v)} = {product}, \qquad z_i = \sum_m A_{{im}}\, v_m"


def leaves(context: StepByStepContext) -> str:
    """The output of the head after W_O, and of the layer."""
    n, d_v, d_out, H = len(context.trace.x), context.spec.d_v, context.spec.d_out, context.spec.H
    added = shaped("Z", n, d_v) + r"\," + shaped(weight("W_O", context.head), d_v, d_out)
    bias = "" if context.trace.projections.b_o is None else " + b_O"
    total = rf"\sum_{{h=0}}^{{{H - 1}}} Z_h\, W_O^{{(h)}}{bias}"
    out = shaped(r"\operatorname{output}", n, d_out)
    return _lines([f"{shaped('C', n, d_out)} = {added}", f"{out} = {total}"])


def _lines(lines: list[str]) -> str:
    return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"
