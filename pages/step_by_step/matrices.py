"""The matrices of the Step by step page: drawn with their tokens and dimensions, named with their shape."""

from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from pages.step_by_step.context import StepByStepContext
from viz import limits
from viz.figures.layout import Figure
from viz.figures.matrix import MANY, NUMBERED, Axis, matrix, numbered
from viz.frame import state
from viz.frame.format import number
from viz.frame.show import show

CLICKED_CELLS = 4_096
"""Cells that can be clicked: a point each, in the browser (64 tokens). Beyond that, the pickers choose."""


PRINTED_COLUMNS, PHONE_COLUMNS = 24, 8
"""Numbers side by side that can still be read across a page of usual width, and across a phone."""


def queries(context: StepByStepContext) -> Axis:
    """The tokens that look."""
    return Axis(context.labels, context.t("axis.queries"))


def keys(context: StepByStepContext) -> Axis:
    """The tokens that are looked at."""
    return Axis(context.labels, context.t("axis.keys"))


def tokens(context: StepByStepContext) -> Axis:
    """The tokens, where nobody looks."""
    return Axis(context.labels, context.t("axis.tokens"))


def dimensions(context: StepByStepContext, of: str, size: int) -> Axis:
    """Numbered places of a vector; ``of`` is "d_model", "d_k", "d_v" or "d_out"."""
    return numbered(size, context.t(f"step_by_step.axis_{of}"), most=MANY)


def fits(values: Tensor, beside: int = 1) -> bool:
    """The numbers can be printed and read, also with several pictures beside each other."""
    return values.numel() <= limits.PRINTED_CELLS and values.shape[1] * beside <= PRINTED_COLUMNS


def picture(
    context: StepByStepContext,
    name: str,
    symbol: str,
    values: Tensor,
    rows: Axis,
    columns: Axis,
    *,
    beside: int = 1,
    row: int | None = None,
) -> None:
    """Draw a matrix of a token's or a head's dimensions, with its numbers if they fit, and say its shape.

    Args:
        context: the head, and the texts in the visitor's language.
        name: of the figure, the same in every language.
        symbol: of the matrix, for the formula below the picture.
        values: (rows, columns).
        rows: what stands at the left.
        columns: what stands on top.
        beside: pictures in this row of the page.
        row: a row to frame.
    """
    end, printed = _end_of_colours(values), fits(values, beside)
    framed, columns = None if row is None else (row, None), replace(columns, most=NUMBERED)
    fig = matrix(values, rows, columns, kind="signed", limit=end, numbers=printed, framed=framed, beside=beside)
    with place(name, values):
        show(fig, key=f"picture_{name}", alt=describe(context, name, values, rows, columns))
    size = {"rows": values.shape[0], "columns": values.shape[1], "n": f"{values.numel():,}"}
    words = context.t(f"step_by_step.shape_{'all' if printed else 'colours'}", symbol=f"${symbol}$", **size)
    beyond = int((values.abs() > end).sum())
    clipped = context.t("step_by_step.clipped", n=beyond, end=number(end, 3)) if beyond else ""
    st.caption(f"{words} {clipped}")


def place(name: str, values: Tensor) -> DeltaGenerator:
    """Where a picture goes: a phone hides the printed numbers of one with many columns (``assets/style.css``)."""
    return st.container(key=f"{'dense' if values.shape[1] > PHONE_COLUMNS else 'sparse'}_{name}")


def _end_of_colours(values: Tensor) -> float:
    """Where the colours end: the largest number, unless a few outliers would leave all others pale."""
    sizes = values.abs().flatten().sort().values
    usual, top = float(sizes[int(0.995 * (len(sizes) - 1))]), float(sizes[-1])
    return usual if top > 2 * usual > 0 else top


def pair_figure(
    context: StepByStepContext,
    values: Tensor,
    kind: Literal["weights", "signed"],
    *,
    limit: float | None = None,
    beside: int = 1,
    clicks: bool = False,
) -> Figure:
    """A map with a cell for every query and key; the chosen one is framed."""
    return matrix(
        values,
        queries(context),
        keys(context),
        kind=kind,
        limit=limit,
        numbers=fits(values, beside),
        hover=_sentences(context, values) if clicks else None,
        clicks=clicks,
        framed=(context.query, context.key),
        beside=beside,
    )


def pair_map(
    context: StepByStepContext,
    name: str,
    values: Tensor,
    kind: Literal["weights", "signed"],
    *,
    limit: float | None = None,
    beside: int = 1,
) -> None:
    """Draw a map of which a click chooses a cell."""
    clicks, key = values.numel() <= CLICKED_CELLS, f"map_{name}"
    fig = pair_figure(context, values, kind, limit=limit, beside=beside, clicks=clicks)
    alt = describe(context, name, values, queries(context), keys(context))
    if not clicks:
        show(fig, key=key, alt=alt)
        st.caption(context.t("step_by_step.not_clicked", n=len(context.labels)))
        return
    with place(name, values):
        show(fig, key=key, alt=alt, on_click=partial(_choose, key))
    if values.numel() > 1:
        st.caption(context.t("step_by_step.click"))


def _choose(figure: str) -> None:
    """Take over the pair that was clicked."""
    if points := st.session_state[figure].selection.points:
        state.put("query", int(points[0]["y"]))
        state.put("key", int(points[0]["x"]))


def _sentences(context: StepByStepContext, values: Tensor) -> list[list[str]]:
    """What the pointer says over each cell."""
    cell, blocked = context.t("step_by_step.hover"), context.t("step_by_step.hover_blocked")
    return [
        [
            (cell if value > -torch.inf else blocked).format(query=query, key=key, value=f"{value:.4f}")
            for key, value in zip(context.labels, row, strict=True)
        ]
        for query, row in zip(context.labels, values.tolist(), strict=True)
    ]


def describe(context: StepByStepContext, name: str, values: Tensor, rows: Axis, columns: Axis) -> str:
    """A matrix for who cannot see it: its shape, its axes, its range, where its largest value is."""
    finite = values[values.isfinite()]
    row, column = divmod(int(values.argmax()), values.shape[1])
    return context.t(
        "step_by_step.alt",
        name=name,
        rows=len(rows.labels),
        columns=len(columns.labels),
        row_title=rows.title,
        column_title=columns.title,
        row=rows.labels[row],
        column=columns.labels[column],
        low=number(float(finite.min()), 3) if finite.numel() else "−",
        high=number(float(values.max()), 3),
    )
