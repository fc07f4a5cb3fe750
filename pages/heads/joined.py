"""How heads are joined: concatenation, W_O, and the sum of what each head contributes."""

import streamlit as st
import torch
from torch.nn.functional import linear

from pages.heads.context import HeadsContext
from viz.core.analysis.checks import largest, sum_error
from viz.figures.blocks import mark_blocks
from viz.figures.matrix import matrix
from viz.frame import controls
from viz.frame.checks import Check, check
from viz.frame.show import show

AFTER = ("contributions", "concat", "w_o", "output")


def draw(context: HeadsContext) -> list[Check]:
    """From the heads' outputs to the layer's, one matrix at a time."""
    scene, head = context.scene, context.head
    t, trace, spec = scene.t, scene.trace, scene.trace.projections.spec
    stage = controls.choice(
        t("heads.part_after"), "after", AFTER, lambda code: t(f"heads.after_{code}"), label_visibility="collapsed"
    )
    names = [str(i) for i in range(spec.H)]
    if stage == "contributions":
        norms = trace.contributions.norm(dim=-1)
        total = trace.contributions.sum(0).norm(dim=-1, keepdim=True)
        fig = matrix(
            torch.cat([norms, total.T]),
            [*names, t("heads.sum")],
            scene.labels,
            kind="sizes",
            row_title=t("heads.head"),
            column_title=t("axis.tokens"),
            numbers=norms.numel() <= 400,
        )
    elif stage == "concat":
        columns = [str(i) for i in range(spec.H * spec.d_v)]
        fig = matrix(
            trace.concat,
            scene.labels,
            columns,
            kind="signed",
            row_title=t("axis.tokens"),
            column_title=t("axis.concat"),
        )
        fig = mark_blocks(fig, spec.H, spec.d_v, along="columns", chosen=head)
    elif stage == "w_o":
        w_o = trace.projections.w_o
        rows, columns = [str(i) for i in range(w_o.shape[0])], [str(i) for i in range(w_o.shape[1])]
        fig = matrix(w_o, rows, columns, kind="signed", row_title=t("axis.concat"), column_title=t("axis.d_out"))
        fig = mark_blocks(fig, spec.H, spec.d_v, along="rows", chosen=head)
    else:
        columns = [str(i) for i in range(spec.d_out)]
        fig = matrix(
            trace.output, scene.labels, columns, kind="signed", row_title=t("axis.tokens"), column_title=t("axis.d_out")
        )
    show(fig, key=f"after_{stage}", alt=t(f"heads.after_{stage}"))
    st.markdown(t(f"heads.after_{stage}_says", H=spec.H, d_v=spec.d_v, width=spec.H * spec.d_v, d_out=spec.d_out))
    in_one_go = linear(trace.concat, trace.projections.w_o.T, trace.projections.b_o)
    return [
        check("truth.sum", sum_error(trace), 1e-5 * largest(trace.output)),
        check("heads.check_linear", (in_one_go - trace.output).abs().max(), 1e-5 * largest(trace.output)),
    ]
