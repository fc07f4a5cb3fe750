"""Every block held against torch's own layer, the model's hidden states, and the equations written out."""

import streamlit as st
import torch

from pages.block import compute
from pages.block.compute import Compared
from pages.block.context import BlockContext, warn_of_changes
from pages.block.side import Side, side_name, torch_name
from viz.core.analysis.checks import farthest_off, worst
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.show import show_table


def draw(context: BlockContext) -> list[Check]:
    """A table for each side, a row for each block."""
    warn_of_changes(context)
    t, found, every = context.t, list[Check](), list[Compared]()
    for side in context.sides:
        target = context.target if side.code == "dec" else ""
        rows = compute.compared(context.source, target, context.plan, context.mask)
        st.markdown(f"**{side_name(t, side)}**")
        show_table(table(context, side, rows), width="stretch")
        found += _checks(context, side, rows)
        every += rows
    if any(row.torch_layer is None for row in every):
        st.caption(t("block.no_torch_layer"))
    if any(row.model_state is None for row in every):
        st.caption(t("block.no_model_state"))
    return found


def table(context: BlockContext, side: Side, rows: tuple[Compared, ...]) -> dict[str, list[str]]:
    """How far each block is from what else computes it; a column for each of these, if there is one."""
    t, seeded = context.t, side.lent or not side.stack.states
    columns: dict[str, list[float | None]] = {
        f"nn.{torch_name(side)}": [None if row.torch_layer is None else row.torch_layer[0] for row in rows],
        t("block.model_state"): [row.model_state for row in rows],
        t("block.equations"): [row.equations for row in rows],
    }
    written = {
        name: ["–" if error is None else number(error, 1) for error in errors]
        for name, errors in columns.items()
        if any(error is not None for error in errors)
    }
    return {t("block.block"): [t("block.seeded_block") if seeded else str(i) for i in range(len(rows))]} | written


def _checks(context: BlockContext, side: Side, rows: tuple[Compared, ...]) -> list[Check]:
    """What was compared, said once for a side: the block that is farthest off."""
    name, n = side_name(context.t, side), len(rows)
    found = [check("block.check_equations_side", worst(row.equations for row in rows), 1e-5, name=name)]
    by_torch = [row.torch_layer for row in rows if row.torch_layer is not None]
    if by_torch:
        error, tolerance = farthest_off(*torch.tensor(by_torch, dtype=torch.float64).T)
        found.append(check("block.check_torch", error, tolerance, kind=torch_name(side), name=name))
    states = [row.model_state for row in rows if row.model_state is not None]
    if states:
        found.append(check("block.check_model", worst(states), 1e-5, name=name, n=n))
    return found
