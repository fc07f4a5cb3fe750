"""One row of the head's output: the part of each key, and one place with every term."""

import torch

from pages.step_by_step import matrices, worked_example
from pages.step_by_step.context import StepByStepContext
from viz.components.matrix import Axis
from viz.core.analysis.checks import largest
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.params import Int

OUTPUT_STEP = 8

PLACE = Int("place", high=lambda d_v: d_v - 1)
"""The place in the row to write out."""


def draw(context: StepByStepContext) -> list[Check]:
    """Draw each key's part in row i of the output, their sum, and one place with every term."""
    t, cell, n = context.t, context.cell, context.spec.d_v
    rows = Axis([*context.labels, f"Σ = z {context.query}"], t("axis.keys"))
    columns = matrices.dimensions(context, "d_v", n)
    values = torch.cat([cell.parts, cell.output.double()[None]]).float()
    matrices.picture(context, "parts", rf"A_{{{context.query},m}}\, v_m", values, rows, columns)
    say(t("step_by_step.parts", i=context.query))
    place = PLACE.number_input(t("step_by_step.place"), n, width=190)
    name, factors = f"z{context.query},{place}", (cell.weights.tolist(), cell.values[:, place].tolist())
    worked_example.write_sum(name, *factors, float(cell.output[place]))
    tolerance = 1e-5 * largest(cell.values)
    return [check("step_by_step.check_output", cell.output_error, tolerance, i=context.query)]
