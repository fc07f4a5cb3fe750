"""One cell of the map by hand, from the dot product to its share of the row."""

from collections.abc import Container, Iterator, Sequence

import streamlit as st
import torch

from pages.step_by_step import formulas, matrices
from pages.step_by_step.context import StepByStepContext
from pages.step_by_step.formulas import number, signed
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.map_statistics import count_largest
from viz.figures.palette import BLUE, ORANGE
from viz.frame.checks import Check, check
from viz.frame.format import share, statistic
from viz.frame.modes import say
from viz.frame.show import show_bars, show_matrix
from viz.text.naming import name_token

LONG = 800
"""Characters above which a sum gets a scrolling box."""
WEIGHT_STEPS = range(4, 8)
"""The steps from a query and a key to their weight."""


def draw(context: StepByStepContext, steps: Sequence[int]) -> list[Check]:
    """Draw the selected weight's dot product, its row, and the lines of its calculation outside ``steps``."""
    chain(context, set(WEIGHT_STEPS) - set(steps))
    _dot_product(context)
    _softmax_row(context)
    cell, names = context.cell, {"i": context.query, "j": context.key}
    terms = max(1.0, float(cell.terms.abs().sum()))
    return [
        check("step_by_step.check_score", cell.score_error, 1e-5 * terms, **names),
        check("step_by_step.check_weight", cell.weight_error, 1e-5, **names),
    ]


def chain(context: StepByStepContext, steps: Container[int]) -> None:
    """Write these steps' calculation of the selected cell, line by line."""
    with st.container(gap="xsmall"):
        for step, words, formula in _lines(context):
            if step in steps:
                with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                    st.caption(context.t(f"step_by_step.{words}", i=context.query), width=120)
                    st.latex(formula, width="content")


def pair(context: StepByStepContext) -> None:
    """Write the query, key and weight of the selected cell."""
    names = {"query": context.labels[context.query], "key": context.labels[context.key]}
    weight = share(context.cell.weight)
    suffix = "_blocked" if context.cell.masked == -torch.inf else ""
    st.text(context.t(f"step_by_step.pair{suffix}", value=weight, i=context.query, j=context.key, **names))


def _lines(context: StepByStepContext) -> Iterator[tuple[int, str, str]]:
    """Yield each line's step, the key of its text, and its formula."""
    cell, i, j = context.cell, context.query, context.key
    s = rf"\tilde S_{{{i},{j}}}"
    yield 4, "line_dot", rf"S_{{{i},{j}}} = q_{{{i}}} \cdot k_{{{j}}} = {number(cell.score)}"
    result = formulas.scaling(context, number(cell.score) if formulas.by_root(context) else signed(cell.score))
    yield 5, "line_scale", rf"S'_{{{i},{j}}} = {result} = {number(cell.scaled)}"
    yield from _before_the_mask(context)
    is_blocked = cell.masked == -torch.inf
    yield 6, "line_blocked" if is_blocked else "line_allowed", rf"{s} = {number(cell.masked)}"
    if cell.fully_masked:
        yield 7, "line_blind", rf"A_{{{i},{j}}} = 0"
    else:
        exp, peak = number(float(cell.exps[j])), rf"\max_m \tilde S_{{{i},m}}"
        yield 7, "line_peak", rf"{peak} = {number(cell.peak)}"
        yield 7, "line_exp", rf"e^{{{number(cell.masked)} - {signed(cell.peak)}}} = {exp}"
        total = rf"\textstyle\sum_m e^{{\tilde S_{{{i},m}} - {signed(cell.peak)}}}"
        yield 7, "line_sum", rf"{total} = {number(cell.total)}"
        yield 7, "line_weight", rf"A_{{{i},{j}}} = {exp} / {number(cell.total)} = {number(cell.weight)}"
    length = number(float(cell.output.norm()))
    yield 8, "line_output", rf"z_{{{i}}} = \sum_m A_{{{i},m}}\, v_m, \quad \lVert z_{{{i}}} \rVert = {length}"


def _before_the_mask(context: StepByStepContext) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a soft cap and a bias, where the model has them."""
    value, cell = torch.tensor(context.cell.scaled), f"{context.query},{context.key}"
    cap, bias = context.options["score_mod"], context.options["bias"]
    if cap is not None:
        value = cap(value)
        yield 6, "line_cap", rf"c \tanh(S'_{{{cell}}} / c) = {number(float(value))}"
    if bias is not None:
        added = float(bias[context.query, context.key])
        yield 6, "line_bias", rf"{number(float(value))} + {signed(added)} = {number(float(value) + added)}"


def _dot_product(context: StepByStepContext) -> None:
    """Draw q_i, k_j and their products, and the sum with every term."""
    t, cell = context.t, context.cell
    i, j, labels = context.query, context.key, context.labels
    rows = Axis([f"q {i}: {labels[i]}", f"k {j}: {labels[j]}", "q × k"], "")
    columns = matrices.dimensions(context, "d_k", context.spec.d_k)
    values = torch.stack([cell.q, cell.k, cell.terms.float()])
    say(t("step_by_step.terms", d_k=context.spec.d_k))
    matrix = Matrix(values=values, rows=rows, columns=columns, kind="signed", numbers=matrices.fits(values))
    alt = matrices.describe(context, "q, k, q × k", values, rows, columns)
    show_matrix(context.t, matrix, key="terms", alt=alt)
    write_sum(f"q{i}·k{j}", cell.q.tolist(), cell.k.tolist(), cell.score)


def write_sum(name: str, left_factors: Sequence[float], right_factors: Sequence[float], result: float) -> None:
    """Write a sum of products with every term, as plain text for copying."""
    factors = " + ".join(f"{_brackets(a)}×{_brackets(b)}" for a, b in zip(left_factors, right_factors, strict=True))
    terms = " + ".join(_brackets(a * b) for a, b in zip(left_factors, right_factors, strict=True))
    text = f"{name} = {factors}\n = {terms}\n = {result:.4f}"
    st.code(text, language=None, wrap_lines=True, height=200 if len(text) > LONG else "content")


def _brackets(value: float) -> str:
    return f"({value:.4f})" if value < 0 else f"{value:.4f}"


def _softmax_row(context: StepByStepContext) -> None:
    """Draw the selected row before and after the softmax."""
    t, cell = context.t, context.cell
    colours = [ORANGE if j == context.key else BLUE for j in range(len(context.labels))]
    panels = (("before", cell.row, None), ("after", cell.weights, 1.0))
    for column, (when, values, top) in zip(st.columns(2), panels, strict=True):
        title = t(f"step_by_step.row_{when}", i=context.query)
        best, n = int(values.argmax()), count_largest(values)
        suffix = "_blind" if cell.fully_masked else ""
        names = {"key": name_token(context.labels, best), "value": statistic(values[best])}
        alt = t(f"step_by_step.row_alt{suffix}", title=title, n=n, **names)
        with column:
            st.subheader(title, anchor=False)
            value_title = t(f"step_by_step.axis_{when}")
            chart = BarChart(
                context.labels, {title: values}, title=t("axis.keys"), value_title=value_title, top=top, colours=colours
            )
            show_bars(chart, key=f"row_{when}", alt=alt)
