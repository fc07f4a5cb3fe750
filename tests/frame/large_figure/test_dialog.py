"""The dialog with the large figure of a picture."""

import base64
import json

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.frame.large_figure.test_message import MESSAGE, with_table
from viz.figures.large import figure_of
from viz.frame.large_figure.message import read_message


def run_figure(message):
    from viz.frame.large_figure.dialog import open_figure
    from viz.text import translator

    open_figure(translator("en"), message)


def test_figure_opens_in_a_dialog():
    app = AppTest.from_function(run_figure, args=(MESSAGE | {"caption": "**A** <b>"},)).run()
    assert not app.exception
    (chart,) = app.get("plotly_chart")
    (trace,) = json.loads(chart.proto.spec)["data"]
    values = np.frombuffer(base64.b64decode(trace["z"]["bdata"]), "<f4")
    np.testing.assert_array_equal(values, [0, 1, 2, 3])
    assert [text.value for text in app.text] == ["**A** <b>"], "as text, not as Markdown"


def test_wrong_message_opens_nothing():
    app = AppTest.from_function(run_figure, args=({"tables": [1]},)).run()
    assert not app.exception and not app.get("plotly_chart")


def test_message_kinds_become_figures():
    for kind in ("map", "bars", "lines", "points"):
        _, _, tables = read_message(with_table(kind=kind))
        assert figure_of(tables).data
