"""From point to point: mean, standard deviation and length of every token at every point of a block."""

import streamlit as st
import torch
from torch import Tensor

from pages.block.checks import moments_error, norm_error
from pages.block.context import BlockContext, notes, say_outgrown, warn_of_changes
from pages.block.side import Side, kind_of, long_name, side_name
from viz.components.matrix import Axis, Matrix
from viz.core.norm import moments, no_norm
from viz.frame.checks import Check, check
from viz.frame.format import statistic
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.text import join_names

QUANTITIES = ("norm", "std", "mean")
"""The length first: it grows, and a norm fixes it."""


def draw(context: BlockContext) -> list[Check]:
    """A map of points by tokens for each quantity, the sides beside each other."""
    warn_of_changes(context)
    if say_outgrown(context, context.sides):
        return []
    for column, side in zip(st.columns(len(context.sides), gap="medium"), context.sides, strict=True):
        with column:
            _side(context, side)
    notes(context, context.sides)
    checks = []
    for side in context.sides:
        name = side_name(context.t, side)
        error = moments_error(side.boxes[code] for code in _codes(side))
        checks.append(check("block.check_moments", error, 1e-5, name=name))
        if side.trace.design.normalize is not no_norm:
            checks.append(check("block.check_norm", norm_error(side.trace), 1e-5, name=name))
    return checks


def _codes(side: Side) -> list[str]:
    """The points whose rows are the side's own tokens, as wide as the block."""
    shape = (len(side.labels), side.trace.x.shape[1])
    return [
        code
        for code, values in side.boxes.items()
        if values.shape == shape and kind_of(code) not in ("memory", "router")
    ]


def _side(context: BlockContext, side: Side) -> None:
    t, codes = context.t, _codes(side)
    names = [long_name(t, side, kind_of(code)) for code in codes]
    statistics = [moments(side.boxes[code]) for code in codes]
    if len(context.sides) > 1:
        st.subheader(side_name(t, side), anchor=False)
    for what in QUANTITIES:
        values = torch.stack([getattr(point, what) for point in statistics])
        _map(context, side, names, values, what)
    lengths = torch.stack([point.norm.mean() for point in statistics])
    most = lengths.max()
    largest = [
        f"“{name}”" for name, length in zip(names, lengths, strict=True) if torch.isclose(length, most, rtol=1e-4)
    ]
    lengths_found = {"first": lengths[0], "last": lengths[-1], "most": most}
    texts = {what: statistic(length, 2) for what, length in lengths_found.items()}
    say(t("block.points_found", points=join_names(t, largest), **texts))
    if context.box in codes:
        st.caption(t("block.points_marked"))


def _map(context: BlockContext, side: Side, names: list[str], values: Tensor, what: str) -> None:
    """Draw one quantity, the selected point's row framed; a mean may be negative."""
    t, quantity = context.t, context.t(f"block.moment_{what}")
    codes, hover = (
        _codes(side),
        t("block.moment_hover", what=quantity, point="{row}", token="{column}", value="{value}"),
    )
    matrix = Matrix(
        values=values,
        rows=Axis(names, quantity),
        columns=Axis(side.labels, t("axis.tokens")),
        kind="signed" if what == "mean" else "sizes",
        hover=hover,
        framed=(codes.index(context.box), None) if context.box in codes else None,
        low=True,
    )
    alt = t("block.points_alt", points=len(names), n=len(side.labels))
    show_matrix(t, matrix, key=f"block_points_{side.code}_{what}", alt=f"{quantity}. {alt}")
