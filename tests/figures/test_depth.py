"""Curves over layers: their places, their gaps, their bands."""

import math

import torch

from viz.figures.depth import Curve, depth


def test_a_point_for_each_level_and_a_gap_where_there_is_no_number():
    values = torch.tensor([0.5, math.inf, math.nan])
    drawn = depth([Curve(name="<b>a", values=values)], x_title="layer", y_title="cosine", first=1)
    (line,) = drawn.series
    assert line.x == [1, 2, 3]
    assert line.y[0] == 0.5
    assert all(math.isnan(value) for value in line.y[1:])
    assert line.name == "<b>a"
    assert drawn.x.ticks == [1, 2, 3]
    assert drawn.y.from_zero and not drawn.y.log


def test_a_band_lies_between_low_and_high_and_a_baseline_is_told_from_the_series():
    heads = torch.tensor([[1.0, 4.0], [3.0, 8.0]])
    band = Curve(name="heads", values=heads.mean(0), low=heads.amin(0), high=heads.amax(0))
    even = Curve(name="even", values=torch.tensor([2.0, 2.0]), baseline=True)
    drawn = depth([band, even], x_title="", y_title="", log=True)
    line, grey = drawn.series
    assert (line.low, line.high, line.y.tolist()) == ([1.0, 4.0], [3.0, 8.0], [2.0, 6.0])
    assert (grey.low, grey.high) == (None, None)
    assert "dot" in grey.dash and line.colour != grey.colour
    assert drawn.y.log and not drawn.y.from_zero, "a logarithm of 0 is nowhere"
