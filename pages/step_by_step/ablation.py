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
from viz.text import join_names

SWITCHES = tuple(map(Flag, ("no_scale", "no_mask", "wrong_axis")))
TEMPERATURE = shared.TEMPERATURE.variant(scope=Scope("mistake"))
MEASURES = ("entropy", "largest", "jacobian", "total")


def draw(context: StepByStepContext) -> list[Check]:
    """Draw the correct map and the faulty one on one scale, with measures of their rows.

    Before the user chooses a fault, the division by the root is left out: two equal maps would show nothing.
    """
    selection = _switches(context)
    faults = replace(selection, no_scale=True) if selection.none else selection
    correct, faulty = context.trace.weights[context.head], attend_with(context, faults).weights
    names = [context.t(f"step_by_step.{switch.name}") for switch in SWITCHES if getattr(faults, switch.name)]
    if faults.temperature != 1:
        names.append(f"t = {number(faults.temperature, 3)}")
    for column, (name, weights) in zip(st.columns(2), (("correct", correct), ("broken", faulty)), strict=True):
        with column:
            say(context.t(f"step_by_step.shows_{name}", what=join_names(context.t, names)))
            _map(context, name, weights)
    t = context.t
    TEMPERATURE.slider(t("step_by_step.temperature"), step=0.1, help=t("step_by_step.temperature_help"), width=260)
    if selection.none:
        st.caption(context.t("step_by_step.break_none"))
    else:
        # An empty element keeps the place, so that Streamlit does not resend the elements below.
        st.empty()
    _explain_difference(context, faults, correct, faulty)
    _table(context, measure_rows(correct), measure_rows(faulty))
    return _checks(context, faults, faulty)


def _switches(context: StepByStepContext) -> Faults:
    """Draw the switches and return the user's faults."""
    t = context.t
    with st.container(horizontal=True, gap="medium"):
        on = {switch.name: switch.toggle(t(f"step_by_step.{switch.name}")) for switch in SWITCHES}
    return Faults(**on, temperature=TEMPERATURE.read())


def attend_with(context: StepByStepContext, faults: Faults) -> AttentionTrace:
    """Return the trace of the head on the same q, k, v with these faults."""
    trace = context.trace
    q, k, v = trace.q[context.head], trace.k[context.group], trace.v[context.group]
    mask = context.of_head(trace.allowed)
    return attend_wrongly(q, k, v, faults, scale=trace.scale, allowed=mask, **context.options)


def _map(context: StepByStepContext, name: str, weights: Tensor) -> None:
    matrix = matrices.pairs(context, weights, "weights", beside=2)
    alt = matrices.describe(context, context.t(f"step_by_step.{name}"), weights, matrix.rows, matrix.columns)
    show_matrix(context.t, matrix, key=f"break_{name}", alt=alt)


def _explain_difference(context: StepByStepContext, faults: Faults, correct: Tensor, faulty: Tensor) -> None:
    if torch.allclose(correct, faulty, rtol=0, atol=1e-6):
        st.info(context.t("step_by_step.break_same"))
    elif faults.wrong_axis:
        low, high = (number(float(end), 3) for end in faulty.sum(-1).aminmax())
        say(context.t("step_by_step.break_axis", low=low, high=high))
    else:
        st.empty()


def _table(context: StepByStepContext, correct: RowMeasures, faulty: RowMeasures) -> None:
    """Draw entropy, largest weight, Jacobian and sum of the selected row."""
    t, i = context.t, context.query
    table = {
        t(f"step_by_step.row_{name}", i=i): [_format_measure(float(getattr(of, measure)[i])) for measure in MEASURES]
        for name, of in (("correct", correct), ("broken", faulty))
    }
    names = [t(f"step_by_step.measure_{measure}") for measure in MEASURES]
    st.table({t("step_by_step.measure"): names} | table, hide_index=True)


def _format_measure(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:.4f}"


def _checks(context: StepByStepContext, faults: Faults, faulty: Tensor) -> list[Check]:
    """Compare both maps with plain torch, and the Jacobian of the selected row with torch's autograd."""
    trace, head, i = context.trace, context.head, context.query
    correct = trace.weights[head]
    errors = reference.weights_error(context, correct), reference.weights_error(context, faulty, faults)
    checks = [
        check("step_by_step.check_correct", errors[0], reference.tolerance(context)),
        check("step_by_step.check_broken", errors[1], reference.tolerance(context, faults)),
    ]
    measures = measure_rows(correct)
    jacobian, entropy = float(measures.jacobian[i]), float(measures.entropy[i])
    # A fully masked row has no Jacobian.
    if not math.isnan(jacobian):
        derived = float(reference.jacobian_norms(trace.masked[head, i][None]))
        checks += [
            check("step_by_step.check_jacobian_row", abs(derived**2 - jacobian**2), reference.SQUARED_NORM, i=i),
            check("step_by_step.check_entropy_row", abs(reference.entropy_of(correct[i]) - entropy), 1e-5, i=i),
        ]
    return checks
