"""Residual and norm switched off: the effect on the tokens and on their lengths."""

import math
from dataclasses import replace

import streamlit as st
import torch

from pages.block import compute
from pages.block.compute import Outcome
from pages.block.context import BlockContext, caption_stack
from viz.components.bars import BarChart
from viz.core.analysis.checks import worst
from viz.figures.curves import Curve, depth
from viz.figures.palette import BLUE, GREY
from viz.frame.checks import Check, check
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.format import statistic
from viz.frame.modes import say
from viz.frame.show import show_bars, show_lines
from viz.text import paragraph


def draw(context: BlockContext) -> list[Check]:
    """A stack as it is built and with one thing changed at a time."""
    plans = variants(context)
    outcomes = {
        code: compute.outcome(context.source, context.target, plan, context.mask) for code, plan in plans.items()
    }
    built = next(iter(outcomes))
    _pictures(context, outcomes)
    _say_result(context, outcomes[built], outcomes["no_residual"], outcomes["no_norm"])
    error = worst(outcome.error for outcome in outcomes.values())
    name = context.t("block.switched_off.title")
    return [check("block.check_equations", error, 1e-5, name=name)]


def variants(context: BlockContext) -> dict[str, BlockPlan]:
    """The blocks as they are built, and with each thing changed alone, by the code of the change."""
    stack = context.sides[-1].stack
    built, other_place = stack.design.norm, "pre" if stack.design.norm == "post" else "post"
    default = BlockPlan(positions=context.plan.positions)
    plans = {
        built: default,
        other_place: replace(default, norm=other_place),
        "no_residual": replace(default, residual=False),
        "no_norm": replace(default, normalize=False),
        "neither": replace(default, residual=False, normalize=False),
    }
    if all(plan.design(stack.design) != context.plan.design(stack.design) for plan in plans.values()):
        plans["several"] = context.plan
    return plans


def _pictures(context: BlockContext, outcomes: dict[str, Outcome]) -> None:
    t = context.t
    names = {code: t(f"block.variant_{code}") for code in outcomes}
    lengths = next(iter(outcomes.values())).lengths
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader(t("block.alike_title"), anchor=False)
        values = torch.tensor([outcome.alike for outcome in outcomes.values()])
        colours = [BLUE] + [GREY] * (len(outcomes) - 1)
        chart = BarChart(
            list(names.values()),
            {t("block.outcome_alike"): values},
            title="",
            value_title=t("block.outcome_alike"),
            colours=colours,
            height=320,
        )
        show_bars(chart, key="block_alike", alt=t("block.alike_alt"))
    with right:
        st.subheader(t("block.lengths_title"), anchor=False)
        curves = [Curve(name=names[code], values=torch.tensor(outcome.lengths)) for code, outcome in outcomes.items()]
        fig = depth(curves, x_title=t("block.blocks_done"), y_title=t("block.outcome_norm"), log=True, height=320)
        show_lines(fig, key="block_lengths", alt=t("block.lengths_alt", n=len(lengths) - 1))


def _say_result(context: BlockContext, built: Outcome, no_residual: Outcome, no_norm: Outcome) -> None:
    t, n = context.t, len(built.lengths) - 1
    lengths = {"built": built.lengths[-1], "no_norm": no_norm.lengths[-1]}
    sentence = t("block.found_length", **{what: statistic(value, 2) for what, value in lengths.items()})
    # One token alone has no other to be like.
    if not math.isnan(built.alike):
        alike = {"built": statistic(built.alike, 2), "no_residual": statistic(no_residual.alike, 2)}
        sentence = paragraph(t("block.found_alike", **alike), sentence)
    say(sentence)
    caption_stack(context, n)
