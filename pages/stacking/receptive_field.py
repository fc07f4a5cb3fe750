"""The receptive field of a last-layer token under a mask, and the part of it that is used."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.stacking import compute
from pages.stacking.context import StackingContext
from viz.components.matrix import Axis, Matrix
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import blocks
from viz.frame.compute.mask_rule import mask_by_rule
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.frame.specs import Mask
from viz.params import Choice, Int
from viz.text import paragraph
from viz.text.naming import name_token

FIELD = Choice("field", "window", among=("own", "causal", "window", "dilated"))
"""The mask of the receptive field; "own" adds none."""
FIELD_WIDTH = Int("field_width", 1, high=16)
FIELD_GAP = Int("field_gap", 2, low=1, high=8)
SLIDER = 150
"""Width of a slider, in pixels: all four controls fit into a row."""


def draw(context: StackingContext) -> list[Check]:
    """Draw the cone below the token: cells that the masks let through, and their gradients."""
    t, pictures = context.t, st.container()
    # Its controls stand below the picture.
    mask = _mask(context)
    receptive_field = compute.field(context.source, context.plan, mask, context.query)
    gradients, _ = compute.gradients(context.source, context.plan, mask, context.query)
    with pictures:
        _picture(context, receptive_field.open, gradients)
    if context.mask.kind not in ("own", mask.kind):
        st.caption(t("stacking.receptive_field.instead"))
    _reach(context, mask, receptive_field.open[0])
    n_used = int((gradients > 0).sum())
    say(t("stacking.receptive_field.shows", open=int(receptive_field.open.sum()), reached=n_used))
    wrong = np.abs(receptive_field.open[0].numpy().astype(int) - by_power(context, mask)).sum()
    checks = [check("stacking.check_power", wrong, 0.0, layers=context.layers(context.depth))]
    if outside := int((~receptive_field.open[0]).sum()):
        beyond = gradients.where(~receptive_field.open, 0.0).max()
        checks += [
            check("stacking.check_leak", receptive_field.leak, receptive_field.rounding, n=outside),
            check("stacking.check_field", beyond, 0.0, open=int(receptive_field.open.sum())),
        ]
    return checks


def _mask(context: StackingContext) -> Mask:
    """Return the section's own mask for every layer, in place of the chips'."""
    t = context.t
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        context.token_control()
        kind = FIELD.segments(
            t("stacking.receptive_field.mask"), says=lambda code: t(f"stacking.receptive_field.name_{code}")
        )
        width = gap = 0
        if kind in ("window", "dilated"):
            width = FIELD_WIDTH.slider(t(f"stacking.receptive_field.width_{kind}"), width=SLIDER)
        if kind == "dilated":
            gap = FIELD_GAP.slider(t("stacking.receptive_field.gap"), width=SLIDER)
    return Mask(kind=kind, width=width, gap=gap or 2)


def _picture(context: StackingContext, open_: Tensor, gradients: Tensor) -> None:
    t, n, depth = context.t, len(context.labels), context.depth
    tallest = gradients.amax(-1, keepdim=True)
    share = (gradients / tallest.where(tallest > 0, torch.ones(()))).where(open_, -torch.inf)
    rows = [t("stacking.level_0"), *(t("stacking.level", layers=context.layers(i)) for i in range(1, depth + 1))]
    matrix = Matrix(
        values=share.flip(0),
        rows=Axis(rows[::-1], t("stacking.receptive_field.levels")),
        columns=Axis(context.labels, t("axis.tokens")),
        kind="weights",
        hover=t("stacking.receptive_field.cell"),
        blocked=t("stacking.receptive_field.cell_closed"),
    )
    title = t(
        "stacking.receptive_field.picture",
        token=name_token(context.labels, context.query),
        layers=context.layers(depth),
        open=int(open_[0].sum()),
        n=n,
    )
    st.text(title)
    show_matrix(t, matrix, key="cone", alt=title)


def _reach(context: StackingContext, mask: Mask, open_: Tensor) -> None:
    """Describe the reach that the mask alone allows, beside the counted one."""
    offsets = (open_.nonzero().flatten() - context.query).tolist()
    back, ahead = -min(0, *offsets, 0), max(0, *offsets, 0)
    sentences = [context.t("stacking.receptive_field.counted", back=back, ahead=ahead)]
    if mask.width:
        gap = mask.gap if mask.kind == "dilated" else 1
        sizes = {"L": context.depth, "w": mask.width, "gap": gap, "far": context.depth * mask.width * gap}
        sentences.insert(0, context.t("stacking.receptive_field.formula", **sizes))
    say(paragraph(*sentences))


def by_power(context: StackingContext, mask: Mask) -> np.ndarray:
    """Return the reachable words, (T,), without the core: the mask by its rule, to the L-th power by numpy."""
    n, identity = len(context.labels), np.eye(len(context.labels))
    rule, way = mask_by_rule(mask, n, n), identity[context.query]
    # The cells that the model's own mask leaves open in each layer: all of them without one.
    for trace in reversed(blocks(context.source, context.plan, Mask())):
        visible = compute.looks(trace.attention.masked)
        # A residual keeps the token.
        step = (visible if rule is None else visible & rule).numpy() | (identity == 1)
        way = ((way @ step.astype(float)) > 0).astype(float)
    return way.astype(int)
