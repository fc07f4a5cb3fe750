"""How far a token of the last layer can see under a mask, and what of that it uses."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.stacking import compute
from pages.stacking.context import StackingContext
from viz.components.matrix import Axis, Matrix
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import blocks
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.frame.specs import Mask
from viz.params import Choice, Int
from viz.text import paragraph

FIELD = Choice("field", "window", among=("own", "causal", "window", "dilated"))
"""The mask whose receptive field is shown; "own" adds none."""
FIELD_WIDTH = Int("field_width", 1, high=16)
FIELD_GAP = Int("field_gap", 2, low=1, high=8)
SLIDER = 150
"""Of a slider, in pixels: all four controls fit into a row."""


def draw(context: StackingContext) -> list[Check]:
    """The cone below the chosen token: what masks let through, and how much of it is really used."""
    t, pictures = context.t, st.container()
    mask = _mask(context)  # its controls stand below the picture
    found = compute.field(context.source, context.plan, mask, context.query)
    measured = compute.gradients(context.source, context.plan, mask, context.query)
    with pictures:
        _picture(context, found.open, measured)
    if context.mask.kind not in ("own", mask.kind):
        st.caption(t("stacking.receptive_field.instead"))
    _reach(context, mask, found.open[0])
    reached = int((measured > 0).sum())
    say(t("stacking.receptive_field.shows", open=int(found.open.sum()), reached=reached))
    wrong = np.abs(found.open[0].numpy().astype(int) - by_power(context, mask)).sum()
    checks = [check("stacking.check_power", wrong, 0.0, layers=context.layers(context.depth))]
    if outside := int((~found.open[0]).sum()):
        beyond = measured.where(~found.open, 0.0).max()
        checks += [
            check("stacking.check_leak", found.leak, 0.0, n=outside),
            check("stacking.check_field", beyond, 0.0, open=int(found.open.sum())),
        ]
    return checks


def _mask(context: StackingContext) -> Mask:
    """The mask of this section, which is laid over every layer in place of the chips'."""
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


def _picture(context: StackingContext, open_: Tensor, measured: Tensor) -> None:
    t, n, depth = context.t, len(context.labels), context.depth
    tallest = measured.amax(-1, keepdim=True)
    share = (measured / tallest.where(tallest > 0, torch.ones(()))).where(open_, -torch.inf)
    rows = [t("stacking.level_0"), *(t("stacking.level", layers=context.layers(i)) for i in range(1, depth + 1))]
    drawn = Matrix(
        values=share.flip(0),
        rows=Axis(rows[::-1], t("stacking.receptive_field.levels")),
        columns=Axis(context.labels, t("axis.tokens")),
        kind="weights",
        hover=t("stacking.receptive_field.cell"),
        blocked=t("stacking.receptive_field.cell_closed"),
    )
    title = t(
        "stacking.receptive_field.picture",
        token=context.labels[context.query],
        layers=context.layers(depth),
        open=int(open_[0].sum()),
        n=n,
    )
    st.text(title)
    show_matrix(t, drawn, key="cone", alt=title)


def _reach(context: StackingContext, mask: Mask, open_: Tensor) -> None:
    """How far the mask alone would let it see, beside what is counted."""
    offsets = (open_.nonzero().flatten() - context.query).tolist()
    back, ahead = -min(0, *offsets, 0), max(0, *offsets, 0)
    says = [context.t("stacking.receptive_field.counted", back=back, ahead=ahead)]
    kind = "window" if mask.kind == "dilated" and mask.gap == 1 else mask.kind  # without gaps it is a window
    step = {"window": mask.width, "dilated": mask.width * mask.gap}.get(kind, 0)
    sizes = {"L": context.depth, "w": mask.width, "gap": mask.gap, "far": context.depth * step}
    if step and not ahead and context.query < len(open_) - 1:
        says.append(context.t("stacking.receptive_field.decoder"))
    say(paragraph(context.t(f"stacking.receptive_field.formula_{kind}", **sizes), *says))


def by_power(context: StackingContext, mask: Mask) -> np.ndarray:
    """Which words the token can reach, (T,), without the core: the mask written out, and its L-th power by numpy."""
    places = np.arange(len(context.labels))
    apart = places - places[:, None]  # key minus query
    near = mask.width * (mask.gap if mask.kind == "dilated" else 1)
    allowed = {
        "own": np.ones_like(apart, dtype=bool),
        "causal": apart <= 0,
        "window": np.abs(apart) <= near,
        "dilated": (np.abs(apart) <= near) & (apart % mask.gap == 0),
    }[mask.kind]
    way = np.eye(len(places))[context.query]
    for trace in reversed(blocks(context.source, context.plan, Mask())):  # what the model's own mask leaves open
        step = (compute.looks(trace.attention.masked).numpy() & allowed) | (apart == 0)  # a residual keeps the token
        way = ((way @ step.astype(float)) > 0).astype(float)
    return way.astype(int)
