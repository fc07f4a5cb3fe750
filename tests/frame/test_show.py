"""Tables and figures on the page, in a run of Streamlit's."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest
from streamlit.testing.v1 import AppTest

from viz import ROOT
from viz.frame import show

FIGURE = """
import sys
from types import SimpleNamespace
import streamlit as st
from viz.frame import show
assert "pandas" not in sys.modules
imported = []
show._image, show.view.current = lambda: "png", lambda: SimpleNamespace(present=False)
st.plotly_chart = lambda *_, **__: imported.append("pandas" in sys.modules)
show.show({"data": []}, key="one", alt="a figure")
assert imported == [True]
"""
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


def test_show_figure_imports_pandas_first():
    """plotly fails on a pandas that another thread is still importing."""
    command = [sys.executable, "-W", "ignore", "-c", FIGURE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_show_figure_with_wrong_property_raises(monkeypatch):
    monkeypatch.setattr(show, "_image", lambda: "png")
    monkeypatch.setattr(show.view, "current", lambda: SimpleNamespace(present=False))
    with pytest.raises(ValueError, match="height"):
        show.show({"data": [], "layout": {"height": "tall"}}, key="wrong", alt="a figure")
