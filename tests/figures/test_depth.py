"""Curves over layers: their places, their gaps, their bands."""

import math

import torch

from viz.figures.depth import Curve, depth


def test_a_point_for_each_level_and_a_gap_where_there_is_no_number():
    values = torch.tensor([0.5, math.inf, math.nan])
    fig = depth([Curve(name="<b>a", values=values)], x_title="layer", y_title="cosine", first=1)
    (line,) = fig["data"]
    assert line["x"] == [1, 2, 3]
    assert line["y"][0] == 0.5
    assert all(math.isnan(value) for value in line["y"][1:])
    assert line["name"] == "&lt;b&gt;a"
    assert fig["layout"]["xaxis"]["tickvals"] == [1, 2, 3]


def test_a_band_lies_between_low_and_high_and_only_series_stand_in_the_legend():
    heads = torch.tensor([[1.0, 4.0], [3.0, 8.0]])
    band = Curve(name="heads", values=heads.mean(0), low=heads.amin(0), high=heads.amax(0))
    even = Curve(name="even", values=torch.tensor([2.0, 2.0]), baseline=True)
    low, high, line, grey = depth([band, even], x_title="", y_title="", log=True)["data"]
    assert (low["y"], high["y"], high["fill"]) == ([1.0, 4.0], [3.0, 8.0], "tonexty")
    assert [one.get("showlegend", True) for one in (low, high, line, grey)] == [False, False, True, True]
    assert "dot" in grey["line"]["dash"]
    assert line["line"]["color"] != grey["line"]["color"]
