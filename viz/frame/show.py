"""Pictures on the page: matrices and figures; and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st
from torch import Tensor

from viz.components.bars import BarChart, pack_bars
from viz.components.kinds import Integer, Many
from viz.components.lines import packed
from viz.components.matrix import Matrix, pack_matrix, unpack_matrix
from viz.components.view import View, apply_change
from viz.figures.layout import ROOM, SMALL, TALLER, larger
from viz.figures.line_chart import LineChart
from viz.figures.palette import HEADS
from viz.frame import view
from viz.text import Translate

if TYPE_CHECKING:
    from viz.figures.plotly_figure import Figure

Chart = TypeVar("Chart", BarChart, LineChart)

BARS, LINES = View("charts/bars"), View("charts/lines")
MATRIX = View("matrix/matrix", sends={"chosen": Many(Integer(), most=2, least=2)}, colours=True)


def show(fig: "Figure", *, key: str, alt: str) -> None:
    """Show a figure of plotly's; its camera button saves it."""
    save = {"filename": f"headlight-{key}", "scale": 2}
    config = {"displaylogo": False, "toImageButtonOptions": save}
    if view.current().present:
        larger(fig)
    st.plotly_chart(fig, key=key, alt=alt, config=config)


def show_bars(chart: BarChart, *, key: str, alt: str) -> None:
    """Show a bar chart."""
    BARS.mount(key=key, data=pack_bars(_fitting(chart)), words={"alt": alt})


def show_lines(chart: LineChart, *, key: str, alt: str) -> None:
    """Show a line chart."""
    LINES.mount(key=key, data=packed(_fitting(chart)), words={"alt": alt})


def show_table(data: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]], **options: Any) -> None:
    """Show rows, all of the same columns, or columns by their names, as a table to be sorted and searched.

    NaN and None are empty cells, as in a data frame, which Streamlit would make first: that takes five times as long.
    """
    # A page of pictures does without pyarrow.
    import pyarrow as pa

    columns = data if isinstance(data, Mapping) else {key: [row[key] for row in data] for key in next(iter(data), {})}
    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in apply_change("", columns).items()})
    st.dataframe(table, hide_index=True, **options)


def _fitting(chart: Chart) -> Chart:
    """A chart as high as it may be in front of a class, where a style sheet enlarges every view."""
    return replace(chart, height=round(chart.height * TALLER * SMALL / ROOM)) if view.current().present else chart


def show_matrix(
    t: Translate, matrix: Matrix, *, key: str, alt: str, on_choose: Callable[[int, int], None] | None = None
) -> Tensor:
    """Show a matrix; return its values as the browser reads them, for a check.

    A click on a cell, or Enter, calls ``on_choose`` with its row and column.
    """
    packed = pack_matrix(matrix, head_hues=HEADS, chooses=on_choose is not None)
    on = {} if on_choose is None else {"chosen": partial(_choose, tuple(matrix.values.shape), on_choose)}
    MATRIX.mount(key=key, data=packed, words={"alt": alt}, on=on)
    return unpack_matrix(packed)


def _choose(shape: Sequence[int], on_choose: Callable[[int, int], None], cell: list[int]) -> None:
    """Hand on a cell of the matrix that was shown."""
    row, column = cell
    if row < shape[0] and column < shape[1]:
        on_choose(row, column)
