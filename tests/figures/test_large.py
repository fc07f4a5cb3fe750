"""Large figures: every trace has the numbers of its table, and every name is shown literally."""

import math

import numpy as np
import pytest

from viz.figures.large import LARGEST, MANY, MOST, byte_ticks, figure_of, heat_map, named_byte_ticks
from viz.figures.palette import plain
from viz.figures.table import Side, Table

RANDOM = np.random.default_rng(0)
HOSTILE = ["<b>x</b>", "&lt;", "#000001", "$a$", "x\ny", "", "x"]


def make_map(rows=5, columns=7, **more):
    values = RANDOM.random((rows, columns), dtype=np.float32)
    about = {"names": list("aabcdefg")[:rows], "columns": list("aabcdefg")[:columns]}
    return Table(**({"kind": "map", "values": values} | about | more))


def names_along(axis, n):
    return [axis.labelalias[str(i)] for i in range(n)]


def test_map_keeps_cells_and_names():
    """Rows run from the top; equal names are different rows and columns."""
    table = make_map()
    figure = figure_of([table])
    (trace,) = figure.data
    np.testing.assert_array_equal(trace.z, table.values)
    assert len(set(trace.x)) == 7 and len(set(trace.y)) == 5
    assert names_along(figure.layout.xaxis, 7) == list("aabcdef")
    assert names_along(figure.layout.yaxis, 5) == list("aabcd")
    assert figure.layout.yaxis.autorange == "reversed"


def test_bars_have_series_per_column():
    table = Table(kind="bars", values=RANDOM.random((5, 3)), names=list("aabcd"), columns=["p", "q", "r"])
    figure = figure_of([table])
    np.testing.assert_array_equal(np.stack([trace.y for trace in figure.data], 1), table.values)
    assert [trace.name for trace in figure.data] == ["p", "q", "r"]
    assert figure.layout.hovermode == "x", "bars are compared"


@pytest.mark.parametrize("kind", ["lines", "points"])
def test_places_keep_order_and_series(kind):
    values, names = RANDOM.random((7, 2)), ["p"] * 3 + ["q"] * 4
    notes = [f"at {i}" for i in range(7)]
    sides = {"x": Side(title="n", log=True), "y": Side(title="y", reversed=True)}
    table = Table(kind=kind, values=values, names=names, notes=notes, columns=["n", "y"], dots=frozenset("q"), **sides)
    figure = figure_of([table])
    np.testing.assert_array_equal(np.concatenate([np.stack([t.x, t.y], 1) for t in figure.data]), values)
    assert [trace.name for trace in figure.data] == ["p", "q"]
    assert [text for trace in figure.data for text in trace.text] == notes
    modes = ["lines+markers", "markers"] if kind == "lines" else ["markers"] * 2
    assert [trace.mode for trace in figure.data] == modes
    assert (figure.layout.xaxis.type, figure.layout.yaxis.autorange) == ("log", "reversed")


def test_line_of_places_has_no_dots():
    table = Table(kind="lines", values=RANDOM.random((MANY + 1, 2)), names=["p"] * (MANY + 1), columns=["x", "y"])
    assert figure_of([table]).data[0].mode == "lines"


@pytest.mark.parametrize("kind", ["map", "bars", "points"])
def test_names_are_shown_literally(kind):
    """plotly reads tags and entities, and Streamlit a few colours."""
    n, columns = len(HOSTILE), HOSTILE if kind == "map" else HOSTILE[:2]
    table = Table(
        kind=kind, values=RANDOM.random((n, len(columns))), names=HOSTILE, columns=columns, notes=HOSTILE,
        title=HOSTILE[0], x=Side(title=HOSTILE[2]), y=Side(title=HOSTILE[3]),
    )  # fmt: skip
    figure = figure_of([table, table], select=HOSTILE[0])
    for text in texts_of(figure.to_plotly_json()):
        assert text not in HOSTILE or text in ("", "x"), "as it is plotly would read it"
    assert plain(HOSTILE[0]) in set(texts_of(figure.to_plotly_json()))


def texts_of(part):
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, value in part.items():
            if name != "template":
                yield from texts_of(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from texts_of(value)


def test_alike_maps_share_zoom_and_scale():
    first, second = make_map(), make_map()
    figure = figure_of([first, second, make_map()])
    layout = figure.layout
    assert [layout[f"xaxis{i}"].matches for i in (2, 3)] == ["x", "x"]
    assert [layout[f"yaxis{i}"].matches for i in (2, 3)] == ["y", "y"]
    assert {trace.coloraxis for trace in figure.data} == {"coloraxis"}
    assert (layout.coloraxis.cmin, layout.coloraxis.cmax) == (0, 1)


def test_other_maps_keep_apart():
    """A map of other columns is zoomed alone, one of its own scale has its own colours."""
    signed = make_map(values=np.array([[-3.0, 1.0, math.nan], [2.0, 0.0, 1.0]]), rows=2, columns=3)
    figure = figure_of([make_map(), signed, make_map(scale=(0.0, 0.25))])
    layout = figure.layout
    assert layout.xaxis2.matches is None and layout.xaxis3.matches == "x"
    scales = [(layout[trace.coloraxis].cmin, layout[trace.coloraxis].cmax) for trace in figure.data]
    assert scales == [(0, 1), (-3, 3), (0, 0.25)]


def test_empty_map_has_a_scale():
    figure = figure_of([make_map(values=np.full((5, 7), math.nan))])
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)


def test_series_can_be_selected():
    """Streamlit takes plotly's own buttons for that away; a map has no places to select."""
    bars = Table(kind="bars", values=np.ones((2, 1)), names=["a", "b"], columns=["p"])
    (menu,) = figure_of([bars], select="Select").layout.updatemenus
    (button,) = menu.buttons
    assert (button.label, button.args, button.args2) == ("Select", ({"dragmode": "select"},), ({"dragmode": "zoom"},))
    assert not figure_of([make_map()], select="Select").layout.updatemenus


def test_heat_map_takes_a_tensor():
    figure = heat_map(RANDOM.random((2, 3)), ["a", "b"], ["c", "d", "e"], row_title="query", column_title="key")
    assert figure.data[0].z.shape == (2, 3)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("key", "query")


@pytest.mark.parametrize("log", [False, True])
def test_bytes_have_names_of_sentences(log):
    """An axis of bytes, and a place under the pointer, as the browser's own chart writes them."""
    values = np.array([[1.0, 2.0**10], [2.0, 3 * 2.0**20], [3.0, math.nan]])
    table = Table(kind="lines", values=values, names=["p"] * 3, columns=["n", "y"], y=Side(log=log, in_bytes=True))
    figure = figure_of([table])
    axis = figure.layout.yaxis
    assert "1 MiB" in axis.ticktext and axis.tickvals[axis.ticktext.index("1 MiB")] == 2**20
    assert figure.data[0].customdata[:2] == ("1 KiB", "3 MiB") and "%{customdata}" in figure.data[0].hovertemplate
    assert figure.layout.xaxis.ticktext is None, "n is a count"


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1000, 3e12), (2**20, 2**22), (5, 2**80)])
def test_logarithmic_ticks_are_whole_doublings(low, high):
    marks = byte_ticks(low, high, log=True)
    powers = np.log2(marks)
    assert (powers == powers.round()).all() and len(set(np.diff(powers))) <= 1
    assert low <= marks[0] and marks[-1] <= high and 1 <= len(marks) <= MOST + 1


@pytest.mark.parametrize(("low", "high"), [(0, 3), (0, 200 * 1024), (7e9, 8e9), (5, 5)])
def test_even_ticks_are_binary_steps(low, high):
    marks = byte_ticks(low, high)
    assert all(low <= mark <= high for mark in marks) and 1 <= len(marks) <= MOST + 1
    steps = {*np.diff(marks)}
    assert len(steps) <= 1 and all(math.log2(step).is_integer() for step in steps)


def test_names_are_those_of_sentences():
    axis = named_byte_ticks(np.array([2.0**10, math.nan, 2.0**14]), log=True)
    assert axis["tickvals"] == [2.0**power for power in range(10, 15)]
    assert axis["ticktext"] == ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB"]
    assert named_byte_ticks(np.array([0.0, 4096.0]), log=False)["ticktext"][::2] == [
        "0 B",
        "1 KiB",
        "2 KiB",
        "3 KiB",
        "4 KiB",
    ]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("value", [math.nan, -5.0, 1e300, -1e300])
def test_impossible_sizes_have_no_ticks(value, log):
    assert named_byte_ticks(np.array([value]), log=log) == {}
    assert named_byte_ticks(np.array([value, 1.0, LARGEST]), log=log)["tickvals"]
