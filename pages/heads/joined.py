"""Combination of the heads: concatenation, W_O, and the sum of what each head contributes."""

from collections.abc import Callable, Mapping

import torch
from torch.nn.functional import linear

from pages.heads.context import HeadsContext
from viz import limits
from viz.components.matrix import Axis, Blocks, Matrix, numbered
from viz.core.analysis.checks import largest
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.params import Choice


def _contributions(context: HeadsContext) -> Matrix:
    """The length of what each head adds to each token, and of their sum."""
    t, parts = context.scene.t, context.scene.trace.contributions
    lengths, total = parts.norm(dim=-1), parts.sum(0).norm(dim=-1, keepdim=True)
    names = [*(str(i) for i in range(len(parts))), t("heads.sum")]
    rows, columns = Axis(names, t("heads.head")), Axis(context.scene.labels, t("axis.tokens"))
    has_numbers = lengths.numel() <= limits.PRINTED_CELLS
    sizes = torch.cat([lengths, total.T])
    return Matrix(values=sizes, rows=rows, columns=columns, kind="sizes", numbers=has_numbers)


def _concat(context: HeadsContext) -> Matrix:
    """The heads' outputs side by side."""
    spec = context.scene.trace.projections.spec
    blocks = Blocks(n_heads=spec.H, width=spec.d_v, along="columns", chosen=context.head)
    rows, columns = _tokens(context), _dimensions(context, "concat")
    return Matrix(values=context.scene.trace.concat, rows=rows, columns=columns, kind="signed", blocks=blocks)


def _w_o(context: HeadsContext) -> Matrix:
    """The matrix that mixes them."""
    projections = context.scene.trace.projections
    blocks = Blocks(n_heads=projections.spec.H, width=projections.spec.d_v, along="rows", chosen=context.head)
    rows, columns = _dimensions(context, "concat"), _dimensions(context, "d_out")
    return Matrix(values=projections.w_o, rows=rows, columns=columns, kind="signed", blocks=blocks)


def _output(context: HeadsContext) -> Matrix:
    """Draw the layer's output."""
    rows, columns = _tokens(context), _dimensions(context, "d_out")
    return Matrix(values=context.scene.trace.output, rows=rows, columns=columns, kind="signed")


def _tokens(context: HeadsContext) -> Axis:
    return Axis(context.scene.labels, context.scene.t("axis.tokens"))


def _dimensions(context: HeadsContext, which: str) -> Axis:
    """The dimensions of the concatenation, "concat", or of the output, "d_out"."""
    spec = context.scene.trace.projections.spec
    size = spec.d_out if which == "d_out" else spec.H * spec.d_v
    return numbered(size, context.scene.t(f"axis.{which}"))


FIGURES: Mapping[str, Callable[[HeadsContext], Matrix]] = {
    "contributions": _contributions,
    "concat": _concat,
    "w_o": _w_o,
    "output": _output,
}
"""The tensors after the heads, in order of computation."""
AFTER = Choice("after", among=tuple(FIGURES))


def draw(context: HeadsContext) -> list[Check]:
    """From the heads' outputs to the layer's, one matrix at a time."""
    scene = context.scene
    t, trace, spec = scene.t, scene.trace, scene.trace.projections.spec
    stage = AFTER.segments(
        t("heads.part_after"), says=lambda code: t(f"heads.after_{code}"), label_visibility="collapsed"
    )
    show_matrix(t, FIGURES[stage](context), key=f"after_{stage}", alt=t(f"heads.after_{stage}"))
    say(t(f"heads.after_{stage}_says", H=spec.H, d_v=spec.d_v, width=spec.H * spec.d_v, d_out=spec.d_out))
    in_one_go = linear(trace.concat, trace.projections.w_o.T, trace.projections.b_o)
    rows = trace.projections.w_o.unflatten(0, (spec.H, -1))
    gated = trace.head_outputs if trace.gate is None else trace.head_outputs * trace.gate
    alone = [linear(output, block.T) for output, block in zip(gated, rows, strict=True)]
    off = (torch.stack(alone) - trace.contributions).abs().max()
    return [
        check("heads.check_blocks", off, 1e-5 * largest(trace.contributions)),
        check("heads.check_linear", (in_one_go - trace.output).abs().max(), 1e-5 * largest(trace.output)),
    ]
