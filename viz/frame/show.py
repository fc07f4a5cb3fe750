"""Pictures on the page: matrices and figures; and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from viz.components.bars import BarChart, pack_bars
from viz.components.covered_data import cover_figure, cover_table
from viz.components.lines import packed
from viz.components.matrix import Matrix, pack_matrix
from viz.components.mount import mount
from viz.figures.layout import ROOM, SMALL, TALLER, larger
from viz.figures.line_chart import LineChart
from viz.figures.palette import BLUE, HEADS, ORANGE
from viz.frame import view
from viz.frame.connection import loading
from viz.params import Choice
from viz.text import Translate

Chart = TypeVar("Chart", BarChart, LineChart)

IMAGE = Choice("image", among=("png", "svg"))
"""What a picture may be saved as."""


def show(fig: dict[str, Any], *, key: str, alt: str) -> None:
    """Show a figure; its camera button saves it as the page's image format."""
    kind = IMAGE.read()
    save = {"format": kind, "filename": f"headlight-{key}", "scale": 2 if kind == "png" else 1}
    config = {"displaylogo": False, "toImageButtonOptions": save}
    sized = cover_figure(larger(fig) if view.current().present else fig)
    # Plotly compares every array with pandas' types as soon as pandas is in sys.modules, and fails while another user's
    # first table is still importing it. This waits until it is complete.
    loading.module("pandas")
    st.plotly_chart(sized, key=key, alt=alt, config=config)


def show_bars(drawn: BarChart, *, key: str, alt: str) -> None:
    """Show a bar chart."""
    IMAGE.read()
    mount("charts/bars", key=key, data=pack_bars(_fitting(drawn), words={"alt": alt}))


def show_lines(drawn: LineChart, *, key: str, alt: str) -> None:
    """Show a line chart."""
    IMAGE.read()
    mount("charts/lines", key=key, data=packed(_fitting(drawn), words={"alt": alt}))


def show_table(data: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]], **options: Any) -> None:
    """Show rows, all of the same columns, or columns by their names, as a table to be sorted and searched.

    NaN and None are empty cells, as in a data frame, which Streamlit would make first: that takes five times as long.
    """
    import pyarrow as pa  # which a page of pictures does without

    columns = data if isinstance(data, Mapping) else {name: [row[name] for row in data] for name in _names(data)}
    shown = cover_table(columns)
    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in shown.items()})
    st.dataframe(table, hide_index=True, **options)


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(rows[0]) if rows else []


def _fitting(drawn: Chart) -> Chart:
    """A chart as high as it may be in front of a class, where a style sheet enlarges every view."""
    return replace(drawn, height=round(drawn.height * TALLER * SMALL / ROOM)) if view.current().present else drawn


def show_matrix(
    t: Translate, drawn: Matrix, *, key: str, alt: str, on_choose: Callable[[int, int], None] | None = None
) -> None:
    """Show a matrix. A click on a cell, or Enter, calls ``on_choose`` with its row and column."""
    IMAGE.read()  # it stands in the link of every page with a picture
    packed = pack_matrix(
        drawn,
        head_hues=HEADS,
        hues={"positive": BLUE, "negative": ORANGE},
        chooses=on_choose is not None,
        words={"alt": alt},
    )
    if on_choose is None:
        mount("matrix/matrix", key=key, data=packed)
    else:
        mount("matrix/matrix", key=key, data=packed, on_chosen_change=partial(_choose, key, on_choose))


def _choose(key: str, on_choose: Callable[[int, int], None]) -> None:
    """Take over the cell that the browser reports; anything else is nobody's click."""
    match st.session_state[key].get("chosen"):
        case [int(row), int(column), int()]:
            on_choose(row, column)
