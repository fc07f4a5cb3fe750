"""Tables on the page, in a run of Streamlit's."""

from typing import Any

import pyarrow
import pytest
from streamlit.testing.v1 import AppTest

MIXED: list[dict[str, Any]] = [{"name": "猫", "n": 2, "share": float("nan")}, {"name": "<b>", "n": None, "share": 0.5}]


@pytest.mark.parametrize(
    "data",
    [MIXED, {name: [row[name] for row in MIXED] for name in MIXED[0]}, [], MIXED[:1]],
    ids=["rows", "columns", "no rows", "all of a column missing"],
)
def test_a_table_is_that_of_a_data_frame(data):
    def run(data):
        import streamlit as st

        from viz.frame.show import show_table

        show_table(data)
        st.dataframe(data, hide_index=True)

    app = AppTest.from_function(run, args=(data,)).run()
    assert not app.exception
    ours, theirs = (pyarrow.ipc.open_stream(shown.proto.arrow_data.data).read_all() for shown in app.dataframe)
    assert [column.null_count for column in ours.columns] == [column.null_count for column in theirs.columns]
    assert ours.to_pydict() == theirs.to_pydict()
