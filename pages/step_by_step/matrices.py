"""The matrices of the Step by step page: drawn with their tokens and dimensions, named with their shape."""

from typing import Literal

import streamlit as st
from torch import Tensor

from pages.step_by_step.context import StepByStepContext
from viz import limits
from viz.components.matrix import Axis, Matrix, numbered
from viz.frame.format import number
from viz.frame.shared import KEY, QUERY
from viz.frame.show import show_matrix

PRINTED_COLUMNS = 24
"""Numbers side by side that can still be read across a page of usual width; the picture leaves out what has no room."""


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
    return numbered(size, context.t(f"step_by_step.axis_{of}"))


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
    drawn = Matrix(
        values=values,
        rows=rows,
        columns=columns,
        kind="signed",
        limit=end,
        numbers=printed,
        framed=None if row is None else (row, None),
    )
    show_matrix(context.t, drawn, key=f"picture_{name}", alt=describe(context, name, values, rows, columns))
    size = {"rows": values.shape[0], "columns": values.shape[1], "n": f"{values.numel():,}"}
    words = context.t(f"step_by_step.shape_{'all' if printed else 'colours'}", symbol=f"${symbol}$", **size)
    beyond = int((values.abs() > end).sum())
    clipped = context.t("step_by_step.clipped", n=beyond, end=number(end, 3)) if beyond else ""
    st.caption(f"{words} {clipped}")


def _end_of_colours(values: Tensor) -> float:
    """Where the colours end: the largest number, unless a few outliers would leave all others pale."""
    sizes = values.abs().flatten().sort().values
    usual, top = float(sizes[int(0.995 * (len(sizes) - 1))]), float(sizes[-1])
    return usual if top > 2 * usual > 0 else top


def pairs(
    context: StepByStepContext,
    values: Tensor,
    kind: Literal["weights", "signed"],
    *,
    limit: float | None = None,
    beside: int = 1,
) -> Matrix:
    """A map with a cell for every query and key; the chosen one is framed."""
    return Matrix(
        values=values,
        rows=queries(context),
        columns=keys(context),
        kind=kind,
        limit=limit,
        numbers=fits(values, beside),
        hover=context.t("step_by_step.hover"),
        blocked=context.t("step_by_step.hover_blocked"),
        framed=(context.query, context.key),
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
    drawn = pairs(context, values, kind, limit=limit, beside=beside)
    alt = describe(context, name, values, drawn.rows, drawn.columns)
    show_matrix(context.t, drawn, key=f"map_{name}", alt=alt, on_choose=_choose)
    if values.numel() > 1:
        st.caption(context.t("step_by_step.click"))


def _choose(query: int, key: int) -> None:
    """Take over the pair that was clicked."""
    QUERY.set(query)
    KEY.set(key)


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
