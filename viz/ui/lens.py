"""The calculation lens: one cell of the map worked out by hand, from the trace's own numbers."""

from collections.abc import Container, Iterator, Sequence

import streamlit as st
import torch

from viz.core.checks import largest
from viz.figures.bars import bars
from viz.figures.marks import few_ticks
from viz.figures.matrix import matrix
from viz.figures.palette import BLUE, ORANGE
from viz.ui import formulas, layout, pictures, state
from viz.ui.controls import KEEP
from viz.ui.formulas import number, signed
from viz.ui.walk import Walk

LONG = 2_000
"""A written sum of more characters than this gets a box that scrolls."""


def chain(walk: Walk, steps: Container[int]) -> None:
    """Write down what these steps make of the chosen cell, a card for each line."""
    with st.container(horizontal=True, gap="small"):
        for step, words, formula in _lines(walk):
            if step in steps:
                with st.container(border=True, width="content", gap=None):
                    st.caption(walk.t(f"step_by_step.{words}", i=walk.query), width="content")
                    st.latex(formula, width="content")


def pair(walk: Walk) -> None:
    """Say which cell it is."""
    named = {"i": walk.query, "j": walk.key, "query": walk.labels[walk.query], "key": walk.labels[walk.key]}
    st.text(walk.t("step_by_step.pair", value=f"{walk.cell.weight:.4f}", **named))


def _lines(walk: Walk) -> Iterator[tuple[int, str, str]]:
    """The step each line belongs to, the key of its words, its formula."""
    cell, i, j = walk.cell, walk.query, walk.key
    s = rf"\tilde S_{{{i},{j}}}"
    yield 4, "line_dot", rf"S_{{{i},{j}}} = q_{{{i}}} \cdot k_{{{j}}} = {number(cell.score)}"
    result = formulas.scaling(walk, number(cell.score) if formulas.by_root(walk) else signed(cell.score))
    yield 5, "line_scale", rf"S'_{{{i},{j}}} = {result} = {number(cell.scaled)}"
    yield from _before_the_mask(walk)
    blocked = cell.masked == -torch.inf
    yield 6, "line_blocked" if blocked else "line_allowed", rf"{s} = {number(cell.masked)}"
    if cell.blind:
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


def _before_the_mask(walk: Walk) -> Iterator[tuple[int, str, str]]:
    """A soft cap and a bias, where the model has them."""
    value, place = torch.tensor(walk.cell.scaled), f"{walk.query},{walk.key}"
    cap, bias = walk.options["score_mod"], walk.options["bias"]
    if cap is not None:
        value = cap(value)
        yield 6, "line_cap", rf"c \tanh(S'_{{{place}}} / c) = {number(float(value))}"
    if bias is not None:
        added = float(bias[walk.query, walk.key])
        yield 6, "line_bias", rf"{number(float(value))} + {signed(added)} = {number(float(value) + added)}"


def dot_product(walk: Walk) -> None:
    """q_i, k_j and their products, place by place, and the sum with every term."""
    t, cell = walk.t, walk.cell
    rows = [f"q {walk.query}: {walk.labels[walk.query]}", f"k {walk.key}: {walk.labels[walk.key]}", "q × k"]
    columns = pictures.dimensions(walk, "d_k", walk.spec.d_k)
    values = torch.stack([cell.q, cell.k, cell.terms.float()])
    st.markdown(t("step_by_step.terms", d_k=walk.spec.d_k))
    fig = matrix(
        values, rows, columns.labels, kind="signed", row_title="", column_title=columns.title,
        numbers=pictures.fits(values),
    )  # fmt: skip
    alt = pictures.describe(walk, "q, k, q × k", values, pictures.Axis(rows, ""), columns)
    with pictures.place("q_k", values):
        layout.show(few_ticks(fig, pictures.DIMENSIONS_NAMED), key="terms", alt=alt)
    _write(f"q{walk.query}·k{walk.key}", cell.q.tolist(), cell.k.tolist(), cell.score)


def _write(name: str, left: Sequence[float], right: Sequence[float], result: float) -> None:
    """A sum of products with every term, as plain text that can be copied."""
    factors = " + ".join(f"{_brackets(a)}×{_brackets(b)}" for a, b in zip(left, right, strict=True))
    terms = " + ".join(_brackets(a * b) for a, b in zip(left, right, strict=True))
    written = f"{name} = {factors}\n = {terms}\n = {result:.4f}"
    st.code(written, language=None, wrap_lines=True, height=260 if len(written) > LONG else "content")


def _brackets(value: float) -> str:
    return f"({value:.4f})" if value < 0 else f"{value:.4f}"


def softmax_row(walk: Walk) -> None:
    """The chosen row before the softmax and after."""
    t, cell = walk.t, walk.cell
    colours = [ORANGE if j == walk.key else BLUE for j in range(len(walk.labels))]
    panels = (("before", cell.row, None), ("after", cell.weights, 1.0))
    for column, (when, values, top) in zip(st.columns(2), panels, strict=True):
        title = t(f"step_by_step.row_{when}", i=walk.query)
        best = int(values.argmax())
        alt = t("step_by_step.row_alt", title=title, key=walk.labels[best], value=f"{float(values[best]):.4f}")
        with column:
            st.markdown(title)
            value_title = t(f"step_by_step.axis_{when}")
            fig = bars(
                walk.labels, {title: values}, title=t("axis.keys"), value_title=value_title, top=top, colours=colours
            )
            layout.show(fig, key=f"row_{when}", alt=alt)


def weighted_sum(walk: Walk) -> None:
    """Each key's part in row i of the output, and one place of it with every term."""
    t, cell, n = walk.t, walk.cell, walk.spec.d_v
    rows = pictures.Axis([*walk.labels, f"Σ = z {walk.query}"], t("axis.keys"))
    columns = pictures.dimensions(walk, "d_v", n)
    values = torch.cat([cell.parts, cell.output.double()[None]]).float()
    st.markdown(t("step_by_step.parts", i=walk.query))
    pictures.picture(walk, "parts", rf"A_{{{walk.query},m}}\, v_m", values, rows, columns)
    place = state.whole("place", 0, 0, n - 1)
    st.number_input(t("step_by_step.place"), 0, n - 1, key="place", persist_state=KEEP, width=190)
    _write(f"z{walk.query},{place}", cell.weights.tolist(), cell.values[:, place].tolist(), float(cell.output[place]))


def checks(walk: Walk) -> list[layout.Check]:
    """What is written must be what the trace has."""
    cell, pair = walk.cell, {"i": walk.query, "j": walk.key}
    terms = max(1.0, float(cell.terms.abs().sum()))
    return [
        layout.check("step_by_step.check_score", cell.score_error, 1e-5 * terms, **pair),
        layout.check("step_by_step.check_weight", cell.weight_error, 1e-5, **pair),
        layout.check("step_by_step.check_output", cell.output_error, 1e-5 * largest(cell.values), **pair),
    ]
