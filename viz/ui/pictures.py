"""The matrices of the Step by step page: drawn with their tokens and dimensions, named with their shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from viz.figures.marks import clickable, few_ticks, frame_cell, frame_row, named_cells, no_gaps
from viz.figures.matrix import MANY, matrix
from viz.ui import layout, limits, state
from viz.ui.walk import Walk

CLICKED_CELLS = 4_096
"""Cells that can be clicked: a point each, in the browser (64 tokens). Beyond that, the pickers choose."""


PRINTED_COLUMNS, PHONE_COLUMNS = 24, 8
"""Numbers side by side that can still be read across a page of usual width, and across a phone."""

DIMENSIONS_NAMED = 24
"""Dimensions with their number written, across the page."""


@dataclass(frozen=True)
class Axis:
    """What a matrix has along one side."""

    labels: Sequence[str]
    title: str


def queries(walk: Walk) -> Axis:
    """The tokens that ask."""
    return Axis(walk.labels, walk.t("axis.queries"))


def keys(walk: Walk) -> Axis:
    """The tokens that answer."""
    return Axis(walk.labels, walk.t("axis.keys"))


def tokens(walk: Walk) -> Axis:
    """The tokens, where nobody asks."""
    return Axis(walk.labels, walk.t("axis.tokens"))


def dimensions(walk: Walk, of: str, size: int) -> Axis:
    """Numbered places of a vector; ``of`` is "d_model", "d_k", "d_v" or "d_out"."""
    return Axis([str(i) for i in range(size)], walk.t(f"step_by_step.axis_{of}"))


def fits(values: Tensor, beside: int = 1) -> bool:
    """The numbers can be printed and read, also with several pictures beside each other."""
    return values.numel() <= limits.PRINTED_CELLS and values.shape[1] * beside <= PRINTED_COLUMNS


def picture(
    walk: Walk,
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
        walk: where the visitor stands.
        name: of the figure, the same in every language.
        symbol: of the matrix, for the formula below the picture.
        values: (rows, columns).
        rows: what stands at the left.
        columns: what stands on top.
        beside: pictures in this row of the page.
        row: a row to frame.
    """
    end, printed = _end_of_colours(values), fits(values, beside)
    fig = matrix(
        values, rows.labels, columns.labels, kind="signed", row_title=rows.title, column_title=columns.title,
        numbers=printed, limit=end,
    )  # fmt: skip
    fig = few_ticks(named_cells(fig), DIMENSIONS_NAMED // beside)
    fig = no_gaps(fig) if beside * values.shape[1] > MANY else fig
    fig = fig if row is None else frame_row(fig, row)
    with place(name, values):
        layout.show(fig, key=f"picture_{name}", alt=describe(walk, name, values, rows, columns))
    size = {"rows": values.shape[0], "columns": values.shape[1], "n": f"{values.numel():,}"}
    words = walk.t(f"step_by_step.shape_{'all' if printed else 'colours'}", symbol=f"${symbol}$", **size)
    beyond = int((values.abs() > end).sum())
    clipped = walk.t("step_by_step.clipped", n=beyond, end=f"{end:.3g}") if beyond else ""
    st.caption(f"{words} {clipped}")


def place(name: str, values: Tensor) -> DeltaGenerator:
    """Where a picture goes: a phone hides the printed numbers of one with many columns (``assets/style.css``)."""
    return st.container(key=f"{'dense' if values.shape[1] > PHONE_COLUMNS else 'sparse'}_{name}")


def _end_of_colours(values: Tensor) -> float:
    """Where the colours end: the largest number, unless a few outliers would leave all others pale."""
    sizes = values.abs().flatten().sort().values
    usual, top = float(sizes[int(0.995 * (len(sizes) - 1))]), float(sizes[-1])
    return usual if top > 2 * usual > 0 else top


def pair_map(
    walk: Walk, name: str, values: Tensor, kind: Literal["weights", "signed"], *, limit: float | None = None
) -> None:
    """Draw a map with a cell for every query and key; a click chooses a pair, the chosen one is framed."""
    fig = matrix(
        values, walk.labels, walk.labels, kind=kind, row_title=walk.t("axis.queries"), column_title=walk.t("axis.keys"),
        numbers=fits(values), limit=limit,
    )  # fmt: skip
    fig = frame_cell(fig, walk.query, walk.key)
    key = f"map_{name}"
    alt = describe(walk, name, values, queries(walk), keys(walk))
    if values.numel() > CLICKED_CELLS:
        layout.show(named_cells(fig), key=key, alt=alt)
        st.caption(walk.t("step_by_step.not_clicked", n=len(walk.labels)))
        return

    def choose() -> None:
        points = st.session_state[key].selection.points
        if points:
            state.put("query", int(points[0]["y"]))
            state.put("key", int(points[0]["x"]))

    with place(name, values):
        layout.show(clickable(fig, _sentences(walk, values)), key=key, alt=alt, on_click=choose)


def _sentences(walk: Walk, values: Tensor) -> list[list[str]]:
    """What the pointer says over each cell."""
    cell, blocked = walk.t("step_by_step.hover"), walk.t("step_by_step.hover_blocked")
    return [
        [
            (cell if value > -torch.inf else blocked).format(query=query, key=key, value=f"{value:.4f}")
            for key, value in zip(walk.labels, row, strict=True)
        ]
        for query, row in zip(walk.labels, values.tolist(), strict=True)
    ]


def describe(walk: Walk, name: str, values: Tensor, rows: Axis, columns: Axis) -> str:
    """A matrix for who cannot see it: its shape, its axes, its range, where its largest value is."""
    finite = values[values.isfinite()]
    row, column = divmod(int(values.argmax()), values.shape[1])
    return walk.t(
        "step_by_step.alt", name=name, rows=len(rows.labels), columns=len(columns.labels), row_title=rows.title,
        column_title=columns.title, row=rows.labels[row], column=columns.labels[column],
        low=f"{float(finite.min()):.4f}" if finite.numel() else "−", high=f"{float(values.max()):.4f}",
    )  # fmt: skip
