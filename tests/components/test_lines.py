"""The data of a line chart in the browser."""

import json
import math

import numpy as np
import pytest

from viz.components.lines import packed
from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import BLUE, ORANGE
from viz.figures.plane import Arrow, plane

GAPS = Series(name="<b>a", x=[1, 2, 3], y=np.array([0.25, math.nan, -math.inf]), colour=BLUE, dash="dot", marker=5)


def chart(*series, **options):
    return LineChart(series=series, x=Axis("n", log=True, ticks=(1, 2)), y=Axis("v", limits=(0, 1)), **options)


def test_series_style_is_sent_unescaped():
    """A series' style and texts are sent with it; no name is escaped."""
    odd = "<img src=x> &amp; $x^2$ #000001 {n}"
    look = {"symbol": "diamond", "faint": True, "listed": False, "says": f"{odd} {{x}}"}
    message = packed(chart(Series(name=odd, x=[1], y=[1], colour=ORANGE, **look), marks=[Mark(x=1, label=odd)]))
    (line,) = message["lines"]
    assert {name: line[name] for name in look} == look
    assert (line["name"], message["marks"][0]["label"]) == (odd, odd)


def test_integers_and_singles_keep_precision():
    """Whole numbers stay whole however large, and float32 numbers get no rougher."""
    sizes, values = [1, 10**12, 2**64 + 13], np.array([0.1, 3e38, -7], np.float32)
    (line,) = packed(chart(Series(name="a", x=sizes, y=values, colour=BLUE)))["lines"]
    assert line["x"] == sizes
    assert line["y"] == [float(np.float32(0.1)), float(np.float32(3e38)), -7]
    json.dumps(line, allow_nan=False)


def test_a_band_has_two_edges():
    band = Series(name="a", x=[1, 2], y=[2, 3], low=np.array([1, math.nan]), high=[4, 5], colour=ORANGE)
    half = Series(name="b", x=[1, 2], y=[2, 3], low=[1, 2], colour=ORANGE)
    lines = packed(chart(band, half))["lines"]
    assert [(line["low"], line["high"]) for line in lines] == [([1, None], [4, 5]), (None, None)]
    json.dumps(lines, allow_nan=False)


def test_axes_and_marks_have_names():
    message = packed(chart(GAPS, marks=[Mark(x=3, label="$x"), Mark(y=5), Mark(radius=2)], height=123, legend=True))
    assert (message["x"]["title"], message["x"]["log"], list(message["x"]["ticks"])) == ("n", True, [1, 2])
    assert (message["y"]["limits"], message["y"]["log"], message["y"]["reversed"]) == ((0, 1), False, False)
    nothing = {"x": None, "y": None, "radius": None, "label": ""}
    assert message["marks"] == [nothing | {"x": 3, "label": "$x"}, nothing | {"y": 5}, nothing | {"radius": 2}]
    assert (message["height"], message["legend"], message["square"]) == (123, True, False)
    assert packed(chart(GAPS, square=True))["square"]


def test_chart_of_overflowing_vectors_is_readable():
    arrows = [Arrow(name=name, tip=(x, 1.0), hue=BLUE) for name, x in (("a", math.nan), ("b", 2.0))]
    message = packed(plane(arrows, x_title="x", y_title="y"))
    json.dumps(message, allow_nan=False)
    assert [line["x"] for line in message["lines"]] == [[0, None], [None], [0, 2], [2]]
    assert [mark["radius"] for mark in message["marks"]] == [pytest.approx(math.sqrt(5))]
    assert message["x"]["limits"] is None
