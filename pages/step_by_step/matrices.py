"""Matrices of the Step by step page, with tokens, dimensions and shape."""

from typing import Literal

import streamlit as st
from torch import Tensor

from pages.step_by_step.context import StepByStepContext
from viz import limits
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.map_statistics import count_largest
from viz.frame.format import number
from viz.frame.shared import KEY, QUERY
from viz.frame.show import show_matrix
from viz.text.naming import name_token

PRINTED_COLUMNS = 24
"""Numbers that are legible side by side on a page of default width; the picture omits those that do not fit."""


def queries(context: StepByStepContext) -> Axis:
    """The axis of queries."""
    return Axis(context.labels, context.t("axis.queries"))


def keys(context: StepByStepContext) -> Axis:
    """The axis of keys."""
    return Axis(context.labels, context.t("axis.keys"))


def tokens(context: StepByStepContext) -> Axis:
    """The axis of tokens."""
    return Axis(context.labels, context.t("axis.tokens"))


def dimensions(context: StepByStepContext, of: str, size: int) -> Axis:
    """Numbered places of a vector; ``of`` is "d_model", "d_k", "d_v" or "d_out"."""
    return numbered(size, context.t(f"step_by_step.axis_{of}"))


def fits(values: Tensor, beside: int = 1) -> bool:
    """Return True if the numbers are legible with ``beside`` pictures in a row."""
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
    """Draw a matrix of a token's or a head's dimensions, with its numbers if they fit, and its shape."""
    end, with_numbers = _end_of_colours(values), fits(values, beside)
    matrix = Matrix(
        values=values,
        rows=rows,
        columns=columns,
        kind="signed",
        limit=end,
        numbers=with_numbers,
        framed=None if row is None else (row, None),
    )
    show_matrix(context.t, matrix, key=f"picture_{name}", alt=describe(context, name, values, rows, columns))
    size = {"rows": values.shape[0], "columns": values.shape[1], "n": f"{values.numel():,}"}
    words = context.t(f"step_by_step.shape_{'all' if with_numbers else 'colours'}", symbol=f"${symbol}$", **size)
    beyond = int((values.abs() > end).sum())
    clipped = context.t("step_by_step.clipped", n=beyond, end=number(end, 3)) if beyond else ""
    st.caption(f"{words} {clipped}")


def _end_of_colours(values: Tensor) -> float:
    """Return the end of the colour scale: the largest number, or the 99.5 % quantile if below half of it."""
    sizes = values.abs().flatten().sort().values
    quantile, top = float(sizes[int(0.995 * (len(sizes) - 1))]), float(sizes[-1])
    return quantile if top > 2 * quantile > 0 else top


def pairs(
    context: StepByStepContext,
    values: Tensor,
    kind: Literal["weights", "signed"],
    *,
    limit: float | None = None,
    beside: int = 1,
) -> Matrix:
    """Return a map with a cell for every query and key; the selected one is framed."""
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
) -> None:
    """Draw a map in which a click selects a cell."""
    matrix = pairs(context, values, kind, limit=limit)
    alt = describe(context, name, values, matrix.rows, matrix.columns)
    show_matrix(context.t, matrix, key=f"map_{name}", alt=alt, on_choose=_choose)
    if values.numel() > 1:
        st.caption(context.t("step_by_step.click"))


def _choose(query: int, key: int) -> None:
    """Select the pair."""
    QUERY.set(query)
    KEY.set(key)


def describe(context: StepByStepContext, name: str, values: Tensor, rows: Axis, columns: Axis) -> str:
    """Return alternative text for a matrix: shape, axes, range and position of the largest value, or how many are."""
    finite, n = values[values.isfinite()], count_largest(values.flatten())
    row, column = divmod(int(values.argmax()), values.shape[1])
    suffix = "" if n else "_blocked"
    return context.t(
        f"step_by_step.alt{suffix}",
        name=name,
        rows=len(rows.labels),
        columns=len(columns.labels),
        row_title=rows.title,
        column_title=columns.title,
        row=name_token(rows.labels, row),
        column=name_token(columns.labels, column),
        n=n,
        low=number(float(finite.min()), 3) if finite.numel() else "−",
        high=number(float(values.max()), 3),
    )
