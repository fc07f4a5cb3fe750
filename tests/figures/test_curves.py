"""Curves over anything."""

import numpy as np
import torch

from viz.figures.curves import curves
from viz.figures.layout import axis
from viz.figures.palette import BLUE, ORANGE, rgba

SIZES = (1, 4, 16)
SERIES = {"without": torch.tensor([1.0, 4.0, 16.0]), "<b>with": torch.tensor([1.0, 0.5, 0.25])}


def draw(series=SERIES, **options):
    return curves(SIZES, series, x=axis("width", log=True), y=axis("variance", limits=(0, 1.02)), **options)


def test_each_series_is_a_curve_with_a_point_for_each_size():
    first, second = draw(dots=True)["data"]
    assert first["x"] == second["x"] == [1, 4, 16]
    np.testing.assert_array_equal(first["y"], [1, 4, 16])
    assert second["name"] == "&lt;b&gt;with"
    assert first["line"]["color"] != second["line"]["color"] and first["line"]["dash"] != second["line"]["dash"]
    assert first["marker"]["symbol"] != second["marker"]["symbol"]
    assert all("marker" not in trace for trace in draw()["data"])


def test_hues_are_taken_in_order():
    assert [trace["line"]["color"] for trace in draw(hues=(ORANGE, BLUE))["data"]] == [rgba(ORANGE, 1), rgba(BLUE, 1)]


def test_axes_are_those_that_were_given():
    layout = draw()["layout"]
    assert layout["xaxis"]["type"] == "log" and layout["xaxis"]["title"]["text"] == "width"
    assert layout["yaxis"]["range"] == [0, 1.02] and layout["yaxis"]["title"]["text"] == "variance"


def test_there_is_a_legend_only_if_there_are_several():
    assert draw()["layout"]["showlegend"]
    assert not draw({"a": torch.ones(3)})["layout"]["showlegend"]
