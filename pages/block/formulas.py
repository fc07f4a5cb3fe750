"""The formula of every box of the Block page, as the block is put together now."""

from collections.abc import Mapping

import torch
from torch import Tensor

from pages.block.side import part_of
from viz.core.block import BlockDesign, BlockTrace
from viz.core.experts import ExpertsWeights, Router
from viz.core.norm import Norm, layer_norm, no_norm, rms_norm, standardize

NORMS: dict[Norm, str] = {
    layer_norm: r"\operatorname{N}(u)_{ij} = g_j\,\frac{u_{ij} - \mu_i}{\sqrt{\sigma_i^2 + \varepsilon}} + s_j",
    rms_norm: r"\operatorname{N}(u)_{ij} = g_j\,\frac{u_{ij}}{\sqrt{\frac1D \sum_m u_{im}^2 + \varepsilon}}",
    no_norm: r"\operatorname{N}(u) = u",
}
SUBLAYERS = {"attention": r"\operatorname{SA}", "cross": r"\operatorname{CA}", "feed_forward": r"\operatorname{FF}"}
INPUTS = {
    "embedding": r"e_i = E_{\text{token}(i)}",
    "position": r"p_i = P_i",
    "x": r"x \in \mathbb{R}^{T \times D}",
    "memory": r"M \in \mathbb{R}^{K \times D}",
}
HEAD = (
    r"\operatorname{%(name)s}(u) = \sum_{h=1}^{H} \operatorname{softmax}\!\Big("
    r"\tfrac{u W_Q^h\, (%(m)s W_K^h)^{\!\top}}{\sqrt{d_k}}%(mask)s\Big)\, %(m)s W_V^h\, W_O^h"
)


def start(inputs: Mapping[str, Tensor], x: Tensor) -> str:
    """The formula of what enters the first block, as the numbers say: a sum, a sum standardized, or more than that."""
    if not inputs:
        return INPUTS["x"]
    total, names = sum(inputs.values(), torch.zeros(())), " + ".join(f"{name[0]}_i" for name in inputs)
    if torch.allclose(total, x, atol=1e-4):
        return f"x_i = {names}"
    if torch.allclose(standardize(total, eps=1e-5), x, atol=1e-4):
        return _lines(r"x_i = \frac{u_i - \mu_i}{\sqrt{\sigma_i^2 + \varepsilon}}", f"u_i = {names}")
    return rf"x_i = \operatorname{{N}}({names} + \dots)"


def formula(code: str, trace: BlockTrace) -> str:
    """The formula of a box of this block, in LaTeX; u is what the box is given."""
    if code in INPUTS:
        return INPUTS[code]
    d = trace.design
    name = part_of(code)
    if code.endswith("_norm"):
        lines = [NORMS[d.normalize], _sublayer(name, d)]
        return _lines(*(lines[:1] if d.normalize is no_norm else lines))
    if code.endswith("_add"):
        return _sublayer(name, d)
    if code in ("attention", "cross"):
        masked = trace.attention.allowed if code == "attention" else trace.cross and trace.cross.allowed
        values = {
            "name": "SA" if code == "attention" else "CA",
            "m": "u" if code == "attention" else "M",
            "mask": "" if masked is None else r" + \text{mask}",
        }
        return HEAD % values
    return _feed_forward(code, trace)


def _sublayer(name: str, design: BlockDesign) -> str:
    """A sublayer with its residual and its norms, where they stand now."""
    f, residual = SUBLAYERS[name], "x + " if design.residual else ""
    if design.normalize is no_norm:
        return f"y = {residual}{f}(x)"
    N = r"\operatorname{N}"
    return {
        "post": f"y = {N}({residual}{f}(x))",
        "pre": f"y = {residual}{f}({N}(x))",
        "output": f"y = {residual}{N}({f}(x))",
        "sandwich": f"y = {residual}{N}'({f}({N}(x)))",
    }[design.norm]


def _feed_forward(code: str, trace: BlockTrace) -> str:
    weights = trace.weights.feed_forward
    if isinstance(weights, ExpertsWeights):
        return _router(weights.router) if code == "router" else _experts(weights)
    biases = {"1": weights.b_in, "2": weights.b_out, "g": weights.b_gate}
    first, second, third = ("" if bias is None else f" + b_{i}" for i, bias in biases.items())
    gated = weights.w_gate is not None
    hidden = rf"h = \varphi(u W_g{third}) \odot (u W_1{first})" if gated else rf"h = \varphi(u W_1{first})"
    return hidden if code == "hidden" else _lines(hidden, rf"\operatorname{{FF}}(u) = h W_2{second}")


def _router(router: Router) -> str:
    bias, correction = "" if router.b is None else " + b", "" if router.correction is None else " + c"
    logits = rf"u W_R{bias}"
    scores = rf"\operatorname{{softmax}}({logits})" if router.score == "softmax" else rf"\sigma({logits})"
    scale = "" if router.scale == 1 else r"\gamma\,"
    weight = rf"{scale} s_{{ie}} \Big/ \sum_{{j \in S_i}} s_{{ij}}" if router.renormalize else rf"{scale} s_{{ie}}"
    return _lines(
        f"s = {scores}",
        rf"S_i = \text{{top-{router.k}}}(s_i{correction})",
        rf"g_{{ie}} = {weight} \quad (e \in S_i)",
        r"g_{ie} = 0 \quad (e \notin S_i)",
    )


def _experts(weights: ExpertsWeights) -> str:
    shared = "" if weights.shared is None else r" + \operatorname{FF}_s(u)_i"
    if weights.w_shared is not None:
        shared = r" + \sigma(u_i w_s) \operatorname{FF}_s(u)_i"
    total = rf"\operatorname{{FF}}(u)_i = \sum_{{e \in S_i}} g_{{ie}} \operatorname{{FF}}_e(u)_i{shared}"
    gated = weights.experts[0].w_gate is not None
    active = r"\big(\varphi(u W_g^e) \odot (u W_1^e)\big)" if gated else r"\varphi(u W_1^e)"
    return _lines(total, rf"\operatorname{{FF}}_e(u) = {active}\, W_2^e")


def _lines(*formulas: str) -> str:
    """Formulas under each other: side by side they do not fit on a phone."""
    return r"\begin{gathered} " + r" \\[4pt] ".join(formulas) + r" \end{gathered}"
