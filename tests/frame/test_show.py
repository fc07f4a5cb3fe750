"""Tables and figures on the page, in a run of Streamlit's."""

from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest

from tests.running import start_app
from viz.figures.layout import ROOM, SMALL, base_layout
from viz.figures.plotly_figure import plotly_figure
from viz.frame import show

MIXED: list[dict[str, Any]] = [{"name": "猫", "n": 2, "share": float("nan")}, {"name": "<b>", "n": None, "share": 0.5}]


@pytest.mark.parametrize(
    "data",
    [MIXED, {name: [row[name] for row in MIXED] for name in MIXED[0]}, [], MIXED[:1]],
    ids=["rows", "columns", "no rows", "all of a column missing"],
)
def test_table_equals_data_frame(data):
    def run(data):
        import streamlit as st

        from viz.frame.show import show_table

        show_table(data)
        st.dataframe(data, hide_index=True)

    app = start_app(run, args=(data,)).run()
    assert not app.exception
    ours, theirs = (pyarrow.ipc.open_stream(table.proto.arrow_data.data).read_all() for table in app.dataframe)
    assert [column.null_count for column in ours.columns] == [column.null_count for column in theirs.columns]
    assert ours.to_pydict() == theirs.to_pydict()


@pytest.mark.parametrize("present", [False, True])
def test_show_draws_the_given_figure(monkeypatch, present):
    """Presented, its letters are larger, and its numbers the same."""
    figures = []
    monkeypatch.setattr(show.view, "current", lambda: SimpleNamespace(present=present))
    monkeypatch.setattr(show.st, "plotly_chart", lambda figure, **_: figures.append(figure))
    figure = plotly_figure([{"type": "scatter", "y": [0.25, 0.5]}], base_layout(100))
    show.show(figure, key="one", alt="a figure")
    assert list(figures[0].data[0].y) == [0.25, 0.5]
    assert figures[0] is figure
    assert figures[0].layout.font.size == (ROOM if present else SMALL)
