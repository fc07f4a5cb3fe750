"""Break it: the same head with a part of the formula missing, beside the correct one."""

import math
from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor

from pages.step_by_step import matrices, reference
from pages.step_by_step.context import StepByStepContext
from viz.core.attention import AttentionTrace
from viz.core.mistakes.attention import Faults, RowMeasures, attend_wrongly, measure_rows
from viz.frame import shared
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.params import Flag, Scope

SWITCHES = tuple(map(Flag, ("no_scale", "no_mask", "wrong_axis")))
TEMPERATURE = shared.TEMPERATURE.variant(scope=Scope("mistake"))
MEASURES = ("entropy", "largest", "jacobian", "total")


def draw(context: StepByStepContext) -> list[Check]:
    """The correct map and the broken one, under one scale, with what has become of the rows.

    Before anything is chosen, the division by the root is what is missing: two equal maps would show nothing.
    """
    chosen = _switches(context)
    faults = replace(chosen, no_scale=True) if chosen.none else chosen
    correct, broken = context.trace.weights[context.head], attend_with(context, faults).weights
    for column, (name, weights) in zip(st.columns(2), (("correct", correct), ("broken", broken)), strict=True):
        with column:
            say(context.t(f"step_by_step.shows_{name}", what=_named(context, faults)))
            _map(context, name, weights)
    _temperature(context)
    if chosen.none:
        st.caption(context.t("step_by_step.break_none"))
    else:
        st.empty()  # keeps the place: what is below is neither moved nor sent again
    _say(context, faults, correct, broken)
    _table(context, measure_rows(correct), measure_rows(broken))
    return _checks(context, faults, broken)


def _switches(context: StepByStepContext) -> Faults:
    """What the visitor has broken."""
    t = context.t
    with st.container(horizontal=True, gap="medium"):
        on = {
            switch.name: switch.toggle(t(f"step_by_step.{switch.name}"), help=t(f"step_by_step.{switch.name}_help"))
            for switch in SWITCHES
        }
    return Faults(**on, temperature=TEMPERATURE.read())


def _temperature(context: StepByStepContext) -> None:
    t = context.t
    TEMPERATURE.slider(
        t("step_by_step.temperature"),
        step=0.1,
        help=t("step_by_step.temperature_help"),
        width=260,
    )


def attend_with(context: StepByStepContext, faults: Faults) -> AttentionTrace:
    """The chosen head on the same q, k, v, with these faults."""
    trace = context.trace
    q, k, v = trace.q[context.head], trace.k[context.group], trace.v[context.group]
    allowed = context.of_head(trace.allowed)
    return attend_wrongly(q, k, v, faults, scale=trace.scale, allowed=allowed, **context.options)


def _named(context: StepByStepContext, faults: Faults) -> str:
    named = [context.t(f"step_by_step.{switch.name}") for switch in SWITCHES if getattr(faults, switch.name)]
    if faults.temperature != 1:
        named.append(f"t = {number(faults.temperature, 3)}")
    return ", ".join(named)


def _map(context: StepByStepContext, name: str, weights: Tensor) -> None:
    drawn = matrices.pairs(context, weights, "weights", beside=2)
    alt = matrices.describe(context, context.t(f"step_by_step.{name}"), weights, drawn.rows, drawn.columns)
    show_matrix(context.t, drawn, key=f"break_{name}", alt=alt)


def _say(context: StepByStepContext, faults: Faults, correct: Tensor, broken: Tensor) -> None:
    if torch.equal(correct, broken):
        st.info(context.t("step_by_step.break_same"))
    elif faults.wrong_axis:
        low, high = (f"{float(end):.2f}" for end in broken.sum(-1).aminmax())
        say(context.t("step_by_step.break_axis", low=low, high=high))
    else:
        st.empty()


def _table(context: StepByStepContext, correct: RowMeasures, broken: RowMeasures) -> None:
    """Entropy, largest weight, Jacobian and sum: of the chosen row, and the median over all rows."""
    t, rows = context.t, {"row": context.query, "median": None}
    table: dict[str, list[str]] = {
        t(f"step_by_step.{place}_{name}", i=context.query): [_written(getattr(of, measure), at) for measure in MEASURES]
        for place, at in rows.items()
        for name, of in (("correct", correct), ("broken", broken))
    }
    names = [t(f"step_by_step.measure_{measure}") for measure in MEASURES]
    st.table({t("step_by_step.measure"): names} | table, hide_index=True)


def _written(values: Tensor, at: int | None) -> str:
    value = float(values.nanquantile(0.5) if at is None else values[at])
    return "—" if math.isnan(value) else f"{value:.4f}"


def _checks(context: StepByStepContext, faults: Faults, broken: Tensor) -> list[Check]:
    """Both maps in plain torch, and the Jacobian of the chosen row by torch's autograd."""
    trace, head, i = context.trace, context.head, context.query
    correct = trace.weights[head]
    errors = reference.weights_error(context, correct), reference.weights_error(context, broken, faults)
    found = [
        check("step_by_step.check_correct", errors[0], reference.tolerance(context)),
        check("step_by_step.check_broken", errors[1], reference.tolerance(context, faults)),
    ]
    measured = measure_rows(correct)
    jacobian, entropy = float(measured.jacobian[i]), float(measured.entropy[i])
    if not math.isnan(jacobian):  # a row that may look nowhere has none
        derived = float(reference.jacobian_norms(trace.masked[head, i][None]))
        found += [
            check("step_by_step.check_jacobian_row", abs(derived**2 - jacobian**2), reference.SQUARED_NORM, i=i),
            check("step_by_step.check_entropy_row", abs(reference.entropy_of(correct[i]) - entropy), 1e-5, i=i),
        ]
    return found
