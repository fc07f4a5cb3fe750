"""A head's map in plotly: every cell in its place, and every word literally."""

import numpy as np

from viz.figures.heat_map import heat_map
from viz.figures.palette import plain

WORDS = ["<b>x</b>", "&lt;", "#000001", "$a$", "x\ny", "", "x", "x"]
"""Plotly and Streamlit would read them as something else; and the same word twice."""


def test_map_keeps_cells_and_names():
    """Rows run from the top, and equal names are different rows."""
    weights = np.random.default_rng(0).random((8, 3), dtype=np.float32)
    figure = heat_map(weights, WORDS, ["a", "b", "b"], row_title="<query>", column_title="key")
    (trace,), x, y = figure.data, figure.layout.xaxis, figure.layout.yaxis
    np.testing.assert_array_equal(trace.z, weights)
    assert [y.labelalias[place] for place in trace.y] == [plain(word) for word in WORDS] != WORDS
    assert [x.labelalias[place] for place in trace.x] == ["a", "b", "b"]
    assert (len({*trace.x}), len({*trace.y}), y.autorange) == (3, 8, "reversed")
    assert (x.title.text, y.title.text, trace.zmin, trace.zmax) == ("key", "&lt;query&gt;", 0, 1)
