"""What a line chart in the browser is sent."""

import json
import math

import numpy as np

from viz.components.lines import packed
from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import BLUE, ORANGE

GAPS = Series(name="<b>a", x=[1, 2, 3], y=np.array([0.25, math.nan, -math.inf]), colour=BLUE, dash="dot", marker=5)


def chart(*series, **options):
    return LineChart(series=series, x=Axis("n", log=True, ticks=(1, 2)), y=Axis("v", limits=(0, 1)), **options)


def test_numbers_are_sent_as_they_are_and_what_is_not_finite_is_nothing():
    sent = json.loads(json.dumps(packed(chart(GAPS), words={"alt": "…"}), allow_nan=False))
    (line,) = sent["lines"]
    assert (line["x"], line["y"], line["low"], line["high"]) == ([1, 2, 3], [0.25, None, None], None, None)
    assert (line["name"], line["dash"], line["marker"], line["colour"]) == ("<b>a", "dot", 5, list(BLUE))
    assert sent["words"] == {"alt": "…"}


def test_a_band_has_two_edges():
    whole = Series(name="a", x=[1, 2], y=[2, 3], low=np.array([1, math.nan]), high=[4, 5], colour=ORANGE)
    half = Series(name="b", x=[1, 2], y=[2, 3], low=[1, 2], colour=ORANGE)
    lines = packed(chart(whole, half))["lines"]
    assert [(line["low"], line["high"]) for line in lines] == [([1, None], [4, 5]), (None, None)]


def test_axes_and_marks_are_told_by_their_names():
    sent = packed(chart(GAPS, marks=[Mark(x=3, label="$x"), Mark(y=5), Mark(radius=2)], height=123, legend=True))
    assert (sent["x"]["title"], sent["x"]["log"], list(sent["x"]["ticks"])) == ("n", True, [1, 2])
    assert (sent["y"]["limits"], sent["y"]["log"], sent["y"]["reversed"]) == ((0, 1), False, False)
    nothing = {"x": None, "y": None, "radius": None, "label": ""}
    assert sent["marks"] == [nothing | {"x": 3, "label": "$x"}, nothing | {"y": 5}, nothing | {"radius": 2}]
    assert (sent["height"], sent["legend"]) == (123, True)
