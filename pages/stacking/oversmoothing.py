"""Oversmoothing: similarity of the tokens by depth, with residuals and norms and without."""

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from pages.stacking import compute
from pages.stacking.compute import DESIGNS, Similarity
from pages.stacking.context import StackingContext, state_checks
from viz.figures.curves import Curve, depth
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import blocks
from viz.frame.format import number, share
from viz.frame.modes import say
from viz.frame.show import show_lines


def draw(context: StackingContext) -> list[Check]:
    """Draw mean cosine and the residual beside the common part level by level, with residuals and norms and without."""
    t = context.t
    if len(context.labels) == 1:
        st.info(t("stacking.oversmoothing.one_word"))
        return []
    similarities = compute.similarity(context.source, context.plan, context.mask)
    names = [t(f"stacking.oversmoothing.design_{int(residual)}{int(norm)}") for residual, norm in DESIGNS]
    for column, code in zip(st.columns(2), ("cosine", "residual"), strict=True):
        values = [getattr(levels, code) for levels in similarities]
        curves = [Curve(name=name, values=by_level) for name, by_level in zip(names, values, strict=True)]
        title = t(f"stacking.{code}")
        with column:
            fig = depth(curves, x_title=t("stacking.after_layer"), y_title=title, log=code == "residual")
            alt = t("stacking.depth_alt", what=title, layers=context.layers(context.depth))
            show_lines(fig, key=f"alike_{code}", alt=alt)
    _say(context, similarities)
    return [*_checks(context, similarities[0]), *state_checks(context)]


def _say(context: StackingContext, similarities: tuple[Similarity, ...]) -> None:
    t, complete, bare = context.t, similarities[0], similarities[DESIGNS.index((False, True))]
    say(
        t(
            "stacking.oversmoothing.shows",
            layers=context.layers(context.depth),
            first=number(float(complete.cosine[0])),
            last=number(float(complete.cosine[-1])),
            bare=number(float(bare.cosine[-1])),
            left=share(float(complete.residual[-1])),
            bare_left=share(float(bare.residual[-1])),
        )
    )
    if context.source.kind == "model":
        st.caption(t("stacking.oversmoothing.another_machine"))
    if not all(levels.length.isfinite().all() for levels in similarities):
        st.caption(t("stacking.oversmoothing.overflow"))


def _checks(context: StackingContext, complete: Similarity) -> list[Check]:
    """Check both measures: every pair's cosine by torch, and the remainder after a projection."""
    traces = blocks(context.source, context.plan, context.mask)
    with torch.inference_mode():
        levels = torch.stack([traces[0].x, *(trace.output for trace in traces)]).double()
        n = levels.shape[1]
        off_diagonal = ~torch.eye(n, dtype=torch.bool)
        pairs = torch.stack([_cosines(x)[off_diagonal].mean() for x in levels])
        common = torch.full((n, n), 1 / n, dtype=levels.dtype)
        remainder = 1 - (common @ levels).square().sum((1, 2)) / levels.square().sum((1, 2))
        return [
            check("stacking.check_cosine", (pairs - complete.cosine).abs().max(), 1e-4),
            check("stacking.check_residual", (remainder - complete.residual.double().square()).abs().max(), 1e-4),
        ]


def _cosines(x: Tensor) -> Tensor:
    """Return the cosine of every pair of rows by torch, a few rows at a time, since it makes a vector for each pair."""
    return torch.cat([cosine_similarity(some[:, None], x[None], dim=-1) for some in x.split(32)])
