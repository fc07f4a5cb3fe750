"""The line chart: what is drawn stands where its numbers say, and marks and labels do not cover each other."""

import math

import numpy as np
import pytest
from plotly.graph_objects import Figure

from viz.figures.layout import SMALL, axis, base_layout, log_ticks
from viz.figures.line_chart import APART, Mark, Series, line_chart
from viz.figures.palette import BLUE, ORANGE

LOG, EVEN = axis("size", log=True), axis("value")
PLAIN = Series(name="<b>a", x=[1, 10, 100], y=[2.0, 4.0, 8.0], colour=BLUE)


def draw(*series, x=EVEN, y=EVEN, **options):
    fig = line_chart(series, x=x, y=y, **options)
    Figure(fig)  # plotly knows every property
    return fig


def test_a_series_is_a_line_with_its_numbers_and_its_name_shown_literally():
    (line,) = draw(PLAIN)["data"]
    assert (line["x"], line["y"], line["mode"]) == ([1, 10, 100], [2.0, 4.0, 8.0], "lines")
    assert line["name"] == "&lt;b&gt;a"
    assert line["hovertemplate"].startswith("&lt;b&gt;a<br>")


@pytest.mark.parametrize(
    ("style", "mode"),
    [({"marker": 6}, "lines+markers"), ({"marker": 6, "dash": None}, "markers"), ({"dash": "dot"}, "lines")],
)
def test_a_series_may_be_a_line_dots_or_both(style, mode):
    (trace,) = draw(Series(name="a", x=[1], y=[1], colour=BLUE, **style))["data"]
    assert trace["mode"] == mode
    assert ("line" in trace, "marker" in trace) == ("lines" in mode, "markers" in mode)


def test_a_band_lies_below_its_line_and_goes_with_it():
    banded = Series(name="a", x=[1, 2], y=np.array([2, 3]), low=[1, 2], high=[4, 5], colour=ORANGE)
    low, high, line = draw(banded)["data"]
    assert (low["y"], high["y"], high["fill"], line["y"].tolist()) == ([1, 2], [4, 5], "tonexty", [2, 3])
    assert low["legendgroup"] == high["legendgroup"] == line["legendgroup"]
    assert [trace["showlegend"] for trace in (low, high, line)] == [False, False, True]


def test_there_is_a_legend_where_there_are_several_series_or_as_asked():
    unlisted = Series(name="b", x=[1], y=[1], colour=BLUE, listed=False)
    assert not draw(PLAIN)["layout"]["showlegend"]
    assert not draw(PLAIN, unlisted)["layout"]["showlegend"]
    assert draw(PLAIN, PLAIN)["layout"]["showlegend"]
    assert draw(PLAIN, legend=True)["layout"]["showlegend"]


def test_lines_and_dots_are_marked_where_they_are_said_to_be():
    fig = draw(PLAIN, marks=[Mark(x=3), Mark(y=5), Mark(x=10, y=4, label="<i>")])
    upright, level = fig["layout"]["shapes"]
    assert (upright["x0"], upright["x1"], upright["yref"]) == (3, 3, "paper")
    assert (level["y0"], level["y1"], level["xref"]) == (5, 5, "paper")
    dot = fig["data"][-1]
    assert (dot["x"], dot["y"], dot["text"], dot["showlegend"]) == ([10], [4], ["&lt;i&gt;"], False)
    assert "annotations" not in fig["layout"]


def test_on_a_logarithmic_axis_a_line_stands_at_the_value_and_its_label_at_the_exponent():
    marks = [Mark(x=50, label="$x"), Mark(y=5, label="y")]
    layout = draw(PLAIN, x=LOG, y=axis("", log=True), marks=marks)["layout"]
    upright, level = layout["annotations"]
    assert (layout["shapes"][0]["x0"], layout["shapes"][1]["y0"]) == (50, 5)
    assert (upright["x"], upright["text"]) == (math.log10(50), "&#36;x")
    assert level["y"] == math.log10(5)
    assert {label["font"]["size"] for label in layout["annotations"]} == {SMALL}


def test_labels_of_upright_lines_point_to_the_middle_and_stand_below_each_other():
    left, right = draw(PLAIN, x=LOG, marks=[Mark(x=2, label="a"), Mark(x=90, label="b")])["layout"]["annotations"]
    assert (left["xanchor"], right["xanchor"]) == ("left", "right")
    assert left["yshift"] - right["yshift"] > SMALL


def test_a_level_lines_label_stands_where_the_next_line_is_farther_away():
    marks = [Mark(y=gb, label=f"{gb} GB") for gb in (8, 24, 80, 141)]
    labels = draw(PLAIN, y=LOG, marks=marks)["layout"]["annotations"]
    assert [label["yanchor"] for label in labels] == ["top", "bottom", "top", "bottom"]
    assert [label["yshift"] for label in labels] == [-APART, APART, -APART, APART], "no label touches its line"
    assert labels[1]["x"] != labels[2]["x"], "these two stand between the same lines"


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([3, 4e5], {"dtick": 1}),
        ([1, 100], {"dtick": 1}),
        ([3, 40], {"tickvals": [2, 5, 10, 20, 50]}),
        ([0.4, 9, 0, -1, math.nan, math.inf], {"tickvals": [0.2, 0.5, 1, 2, 5, 10]}),
        ([1, 4], {"tickvals": [1, 2, 5]}),
        ([3, 4], {}),
        ([2, 2], {}),
        ([], {}),
    ],
)
def test_a_logarithmic_axis_has_whole_powers_or_steps_written_in_full(values, ticks):
    found = log_ticks(values)
    assert found.keys() == ticks.keys()
    for name, expected in ticks.items():
        np.testing.assert_allclose(found[name], expected)


def test_ticks_suit_the_values_unless_the_axis_has_its_own():
    layout = draw(PLAIN, x=LOG, y=axis("", log=True, tickvals=[3]))["layout"]
    assert layout["xaxis"]["dtick"] == 1
    assert layout["yaxis"]["tickvals"] == [3] and "dtick" not in layout["yaxis"]
    assert "dtick" not in draw(PLAIN)["layout"]["xaxis"]


def test_layouts_of_two_figures_share_nothing_that_changing_one_would_change_in_the_other():
    first = base_layout(100)
    first["margin"]["t"] = 99
    assert base_layout(100)["margin"]["t"] == 10
