"""Post- or pre-norm: one block put together both ways, and how long tokens become in a whole stack of each."""

from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from pages.block import compute
from pages.block.context import BlockContext, caption_stack
from pages.block.diagram import pack_box, pack_parts, show_diagram
from pages.block.side import Side, torch_name
from viz.core.block import BlockTrace, Place
from viz.figures.curves import Curve, depth
from viz.frame.checks import Check, check
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.format import statistic
from viz.frame.modes import say
from viz.frame.show import show_lines


def draw(context: BlockContext) -> list[Check]:
    """The two diagrams, and the two lengths."""
    t, side = context.t, context.sides[-1]
    both = compute.both_places(context.source, context.target, context.mask, side.layer)
    built = side.stack.design.norm
    names: dict[Place, str] = {place: t(f"block.variant_{place}") for place in both.traces}
    names[built] = t("block.as_built", name=names[built])
    show_diagram(
        t, [_packed(context, side, both.traces[place], name) for place, name in names.items()], key="block_places"
    )
    _lengths(context, names, built)
    checks = [check("block.check_equations", both.error, 1e-5, name=t("block.norm_place.title"))]
    for place, off in both.torch_errors.items():
        if off is not None:
            checks.append(check("block.check_torch", *off, kind=torch_name(side), name=names[place]))
    return checks


def _packed(context: BlockContext, side: Side, trace: BlockTrace, name: str) -> dict[str, Any]:
    """A single block, from its input to its output."""
    t, alone = context.t, replace(side, traces=(trace,), layer=0, inputs={})
    boxes = alone.boxes
    came_in = pack_box(t, alone, f"{side.code}_sum", boxes[f"{side.code}_sum"], "first")
    return {
        "code": side.code,
        "name": name,
        "times": "",
        "inputs": [came_in | {"name": t("block.name_comes_in")}],
        "parts": pack_parts(t, alone, boxes),
    }


def _lengths(context: BlockContext, names: dict[Place, str], built: Place) -> None:
    """Draw the tokens' lengths after each block of a whole stack, for both places of the norm."""
    t = context.t
    outcomes = {
        place: compute.outcome(
            context.source, context.target, BlockPlan(norm="own" if place == built else place), context.mask
        )
        for place in names
    }
    n = len(outcomes[built].lengths) - 1
    st.subheader(t("block.lengths_title"), anchor=False)
    curves = [Curve(name=names[place], values=torch.tensor(outcome.lengths)) for place, outcome in outcomes.items()]
    fig = depth(curves, x_title=t("block.blocks_done"), y_title=t("block.outcome_norm"), height=300)
    show_lines(fig, key="block_place_lengths", alt=t("block.lengths_alt", n=n))
    post, inside = (statistic(outcome.lengths[-1], 2) for outcome in outcomes.values())
    first, name = statistic(outcomes[built].lengths[0], 2), t(f"block.variant_{list(outcomes)[1]}")
    say(t("block.place_found", first=first, post=post, inside=inside, name=name))
    caption_stack(context, n)
