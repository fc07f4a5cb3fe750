"""Do tokens become alike with depth? With residuals and norms, and without them."""

from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from pages.stacking import compute
from pages.stacking.compute import DESIGNS, Similarity
from pages.stacking.context import StackingContext, state_checks
from viz.figures.depth import Curve, depth
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import blocks
from viz.frame.format import number, share
from viz.frame.modes import say
from viz.frame.show import show_lines

MEASURES: dict[str, Callable[[Similarity], Tensor]] = {
    "cosine": lambda similarity: similarity.cosine,
    "residual": lambda similarity: similarity.residual,
}


def draw(context: StackingContext) -> list[Check]:
    """Mean cosine and what is left beside the common part, level by level, with residuals and norms and without."""
    t = context.t
    if len(context.labels) == 1:
        st.info(t("stacking.oversmoothing.one_word"))
        return []
    found = compute.similarity(context.source, context.plan, context.mask)
    names = [t(f"stacking.oversmoothing.design_{int(residual)}{int(norm)}") for residual, norm in DESIGNS]
    for column, (code, measure) in zip(st.columns(2), MEASURES.items(), strict=True):
        curves = [Curve(name=name, values=measure(levels)) for name, levels in zip(names, found, strict=True)]
        title = t(f"stacking.{code}")
        with column:
            fig = depth(curves, x_title=t("stacking.after_layer"), y_title=title, log=code == "residual")
            alt = t("stacking.depth_alt", what=title, layers=context.layers(context.depth))
            show_lines(fig, key=f"alike_{code}", alt=alt)
    _say(context, found)
    return [*_checks(context, found[0]), *state_checks(context)]


def _say(context: StackingContext, found: tuple[Similarity, ...]) -> None:
    t, whole, bare = context.t, found[0], found[DESIGNS.index((False, True))]
    say(
        t(
            "stacking.oversmoothing.shows",
            layers=context.layers(context.depth),
            first=number(float(whole.cosine[0])),
            last=number(float(whole.cosine[-1])),
            bare=number(float(bare.cosine[-1])),
            left=share(float(whole.residual[-1])),
            bare_left=share(float(bare.residual[-1])),
        )
    )
    if context.source.kind == "model":
        st.caption(t("stacking.oversmoothing.another_machine"))
    if not all(levels.length.isfinite().all() for levels in found):
        st.caption(t("stacking.oversmoothing.overflow"))


def _checks(context: StackingContext, whole: Similarity) -> list[Check]:
    """Both measures once more: every pair's cosine by torch, and what a projection takes away."""
    traces = blocks(context.source, context.plan, context.mask)
    with torch.inference_mode():
        levels = torch.stack([traces[0].x, *(trace.output for trace in traces)]).double()
        n = levels.shape[1]
        others = ~torch.eye(n, dtype=torch.bool)
        pairs = torch.stack([_cosines(x)[others].mean() for x in levels])
        common = torch.full((n, n), 1 / n, dtype=levels.dtype)
        left = 1 - (common @ levels).square().sum((1, 2)) / levels.square().sum((1, 2))  # Pythagoras
        return [
            check("stacking.check_cosine", (pairs - whole.cosine).abs().max(), 1e-4),
            check("stacking.check_residual", (left - whole.residual.double().square()).abs().max(), 1e-4),
        ]


def _cosines(x: Tensor) -> Tensor:
    """Of every pair of rows, by torch; a few rows at a time, since it makes a vector for each pair."""
    return torch.cat([cosine_similarity(some[:, None], x[None], dim=-1) for some in x.split(32)])
