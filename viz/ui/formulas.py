"""The formulas of the nine steps with this text's own shapes, in the letters of :mod:`viz.core`."""

import math
from collections.abc import Sequence

from torch import Tensor

from viz.ui.walk import Walk


def number(value: float) -> str:
    """A number for a formula: four decimals, powers of ten where those would hide it."""
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4f}"
    digits, power = f"{value:.4e}".split("e")
    return rf"{digits}\times 10^{{{int(power)}}}"


def signed(value: float) -> str:
    """As :func:`number`, a negative one in brackets."""
    return f"({number(value)})" if value < 0 else number(value)


def _times(shape: Sequence[int]) -> str:
    return r" \times ".join(map(str, shape))


def shaped(symbol: str, *shape: int) -> str:
    """A symbol with its shape below."""
    return rf"\underset{{{_times(shape)}}}{{{symbol}}}"


def weight(name: str, index: int) -> str:
    """A head's own matrix or bias, e.g. W_Q^(1)."""
    return f"{name}^{{({index})}}"


def _set(symbol: str, values: Tensor) -> str:
    return rf"{symbol} \in \mathbb{{R}}^{{{_times(values.shape)}}}"


def tokens(walk: Walk) -> str:
    """X."""
    return _set("X", walk.trace.x)


def learned(walk: Walk) -> str:
    """W_Q, W_K, W_V, and which of them are shared."""
    own = {"Q": (walk.own.w_q, walk.own.b_q), "K": (walk.own.w_k, walk.own.b_k), "V": (walk.own.w_v, walk.own.b_v)}
    sets = []
    for letter, (matrix, bias) in own.items():
        index = walk.head if letter == "Q" else walk.group
        sets.append(_set(weight(f"W_{letter}", index), matrix))
        if bias is not None:
            sets[-1] += r",\; " + _set(weight(f"b_{letter}", index), bias)
    if walk.spec.kind != "MHA":
        H, G = walk.spec.H, walk.spec.G
        sets.append(rf"g({walk.head}) = \lfloor {walk.head} \cdot {G} / {H} \rfloor = {walk.group}")
    return _lines(sets)


def projected(walk: Walk) -> str:
    """Q, K, V."""
    own, rows = walk.own, {"Q": walk.trace.x, "K": walk.trace.memory, "V": walk.trace.memory}
    parts = {"Q": (own.w_q, own.b_q), "K": (own.w_k, own.b_k), "V": (own.w_v, own.b_v)}
    lines = []
    for letter, (matrix, bias) in parts.items():
        index = walk.head if letter == "Q" else walk.group
        right = shaped("X", *rows[letter].shape) + r"\," + shaped(weight(f"W_{letter}", index), *matrix.shape)
        if bias is not None:
            right += " + " + weight(f"b_{letter}", index)
        if walk.rotary and letter != "V":
            right = rf"\operatorname{{RoPE}}\bigl({right}\bigr)"
        lines.append(f"{shaped(letter, len(rows[letter]), matrix.shape[1])} = {right}")
    return _lines(lines)


def scores(walk: Walk) -> str:
    """Q K^T."""
    (n_queries, n_keys), d_k = walk.trace.scores.shape[-2:], walk.spec.d_k
    product = shaped("Q", n_queries, d_k) + r"\," + shaped(r"K^{\top}", d_k, n_keys)
    return rf"{shaped('S', n_queries, n_keys)} = {product}, \qquad S_{{ij}} = q_i \cdot k_j"


def by_root(walk: Walk) -> bool:
    """The scale is 1/sqrt(d_k), as in the paper; a model may have another."""
    return math.isclose(walk.trace.scale, walk.spec.d_k**-0.5, rel_tol=1e-6)


def scaling(walk: Walk, symbol: str) -> str:
    """What the scaling makes of a score."""
    if by_root(walk):
        return rf"\frac{{{symbol}}}{{\sqrt{{{walk.spec.d_k}}}}}"
    return rf"{number(walk.trace.scale)} \cdot {symbol}"


def scaled(walk: Walk) -> str:
    """The scaled scores."""
    left = shaped("S'", *walk.trace.scaled.shape[-2:])
    if by_root(walk):
        root = number(walk.spec.d_k**0.5)
        return rf"{left} = \frac{{S}}{{\sqrt{{d_k}}}} = {scaling(walk, 'S')} = \frac{{S}}{{{root}}}"
    return f"{left} = {scaling(walk, 'S')}"


def masked(walk: Walk) -> str:
    """What the softmax sees."""
    inside = "S'_{ij}"
    if walk.options["score_mod"] is not None:
        inside = r"c \tanh(S'_{ij} / c)"
    if walk.options["bias"] is not None:
        inside += " + B_{ij}"
    left = shaped(r"\tilde S", *walk.trace.masked.shape[-2:])
    return (
        rf"{left}:\quad \tilde S_{{ij}} = \begin{{cases}} {inside} & j \in \operatorname{{allowed}}(i) \\"
        r" -\infty & j \notin \operatorname{allowed}(i) \end{cases}"
    )


def weights(walk: Walk) -> str:
    """The softmax of each row."""
    left = shaped("A", *walk.trace.weights.shape[-2:])
    return (
        rf"{left} = \operatorname{{softmax}}(\tilde S), \qquad "
        r"A_{ij} = \frac{e^{\tilde S_{ij}}}{\sum_m e^{\tilde S_{im}}}"
    )


def output(walk: Walk) -> str:
    """Z = A V."""
    (n_queries, n_keys), d_v = walk.trace.weights.shape[-2:], walk.spec.d_v
    product = shaped("A", n_queries, n_keys) + r"\," + shaped("V", n_keys, d_v)
    return rf"{shaped('Z', n_queries, d_v)} = {product}, \qquad z_i = \sum_m A_{{im}}\, v_m"


def leaves(walk: Walk) -> str:
    """What leaves the head, and the layer."""
    n, d_v, d_out, H = len(walk.trace.x), walk.spec.d_v, walk.spec.d_out, walk.spec.H
    own = shaped("Z", n, d_v) + r"\," + shaped(weight("W_O", walk.head), d_v, d_out)
    bias = "" if walk.trace.projections.b_o is None else " + b_O"
    total = rf"\sum_{{h=0}}^{{{H - 1}}} Z_h\, W_O^{{(h)}}{bias}"
    out = shaped(r"\operatorname{output}", n, d_out)
    return _lines([f"{shaped('C', n, d_out)} = {own}", f"{out} = {total}"])


def _lines(lines: list[str]) -> str:
    return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"
