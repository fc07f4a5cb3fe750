"""Break it: the same head with a part of the formula missing, beside the correct one."""

import math

import streamlit as st
import torch
from torch import Tensor

from viz.core.attention import AttentionTrace
from viz.core.broken import Faults, RowMeasures, attend_wrongly, measure_rows
from viz.core.saturation import random_scores, saturation
from viz.figures.curves import curves
from viz.figures.marks import few_ticks, frame_cell, named_cells
from viz.figures.matrix import matrix
from viz.ui import layout, pictures, state
from viz.ui.controls import KEEP
from viz.ui.walk import Walk

SWITCHES = ("no_scale", "no_mask", "wrong_axis")
TEMPERATURES = (0.1, 10.0)
WIDTHS, ROWS, KEYS = (1, 4, 16, 64, 256), 400, 10
"""Of the random vectors: 400 queries of each width with 10 keys each take about 15 ms."""


def switches(walk: Walk) -> Faults:
    """What the visitor has broken."""
    t = walk.t
    st.markdown(t("step_by_step.break_lead"))
    with st.container(horizontal=True, gap="medium"):
        on = {name: state.flag(name) for name in SWITCHES}
        for name in SWITCHES:
            st.toggle(t(f"step_by_step.{name}"), key=name, persist_state=KEEP, help=t(f"step_by_step.{name}_help"))
    temperature = state.real("temperature", 1.0, *TEMPERATURES)
    st.slider(
        t("step_by_step.temperature"), *TEMPERATURES, step=0.1, key="temperature", persist_state=KEEP,
        help=t("step_by_step.temperature_help"),
    )  # fmt: skip
    return Faults(**on, temperature=temperature)


def run(walk: Walk, faults: Faults) -> AttentionTrace:
    """The same head on the same q, k, v, with these faults."""
    trace = walk.trace
    return attend_wrongly(
        trace.q[walk.head], trace.k[walk.group], trace.v[walk.group], faults, scale=trace.scale,
        allowed=walk.of_head(trace.allowed), **walk.options,
    )  # fmt: skip


def compare(walk: Walk, faults: Faults) -> None:
    """The correct map and the broken one, under one scale, with what has become of the rows."""
    if faults.none:
        return
    correct, broken = walk.trace.weights[walk.head], run(walk, faults).weights
    for column, (name, weights) in zip(st.columns(2), (("correct", correct), ("broken", broken)), strict=True):
        with column:
            st.markdown(walk.t(f"step_by_step.shows_{name}", what=_named(walk, faults)))
            _map(walk, name, weights)
    if torch.equal(correct, broken):
        st.info(walk.t("step_by_step.break_same"))
    elif faults.wrong_axis:
        low, high = (f"{float(end):.2f}" for end in broken.sum(-1).aminmax())
        st.markdown(walk.t("step_by_step.break_axis", low=low, high=high))
    _table(walk, measure_rows(correct), measure_rows(broken))
    if faults.no_scale and walk.step != 5:
        random_vectors(walk)


def _named(walk: Walk, faults: Faults) -> str:
    named = [walk.t(f"step_by_step.{name}") for name in SWITCHES if getattr(faults, name)]
    if faults.temperature != 1:
        named.append(f"t = {faults.temperature:g}")
    return ", ".join(named)


def _map(walk: Walk, name: str, weights: Tensor) -> None:
    title = walk.t(f"step_by_step.{name}")
    fig = matrix(
        weights, walk.labels, walk.labels, kind="weights", row_title=walk.t("axis.queries"),
        column_title=walk.t("axis.keys"), numbers=pictures.fits(weights, beside=2),
    )  # fmt: skip
    fig = few_ticks(named_cells(frame_cell(fig, walk.query, walk.key)), 32)
    alt = pictures.describe(walk, title, weights, pictures.queries(walk), pictures.keys(walk))
    with pictures.place(name, weights):
        layout.show(fig, key=f"break_{name}", alt=alt)


def _table(walk: Walk, correct: RowMeasures, broken: RowMeasures) -> None:
    """Entropy, largest weight, Jacobian and sum: of the chosen row, and the median over all rows."""
    t, rows = walk.t, {"row": walk.query, "median": None}
    table: dict[str, list[str]] = {
        t(f"step_by_step.{place}_{name}", i=walk.query): [
            _say(getattr(of, measure), at) for measure in ("entropy", "largest", "jacobian", "total")
        ]
        for place, at in rows.items()
        for name, of in (("correct", correct), ("broken", broken))
    }
    names = [t(f"step_by_step.measure_{measure}") for measure in ("entropy", "largest", "jacobian", "total")]
    st.table({t("step_by_step.measure"): names} | table, hide_index=True)
    st.caption(t("step_by_step.measure_note"))


def _say(values: Tensor, at: int | None) -> str:
    value = float(values.nanquantile(0.5) if at is None else values[at])
    return "—" if math.isnan(value) else f"{value:.4f}"


def random_vectors(walk: Walk) -> None:
    """Why the scores are divided: products of random vectors, and what the softmax makes of them, at growing width."""
    t = walk.t
    scores = random_scores(WIDTHS, n_rows=ROWS, n_keys=KEYS, seed=0)
    unscaled, scaled = saturation(scores), saturation(scores / torch.tensor(WIDTHS).sqrt()[:, None, None])
    st.markdown(t("step_by_step.random", n=ROWS, keys=KEYS))
    plots = (("variance", True), ("largest", False), ("jacobian", False))
    for column, (measure, log) in zip(st.columns(3), plots, strict=True):
        series = {
            t("step_by_step.without"): getattr(unscaled, measure),
            t("step_by_step.with"): getattr(scaled, measure),
        }
        title = t(f"step_by_step.random_{measure}")
        ends = [f"{float(values[-1]):.4g}" for values in series.values()]
        alt = t("step_by_step.random_alt", title=title, d=WIDTHS[-1], without=ends[0], scaled=ends[1])
        with column:
            st.markdown(title)
            fig = curves(WIDTHS, series, size_title=t("step_by_step.axis_width"), value_title=title, log_values=log)
            layout.show(fig, key=f"random_{measure}", alt=alt)
