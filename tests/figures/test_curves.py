"""Curves against a size."""

import numpy as np
import torch

from viz.figures.curves import curves

SIZES = (1, 4, 16)
SERIES = {"without": torch.tensor([1.0, 4.0, 16.0]), "<b>with": torch.tensor([1.0, 0.5, 0.25])}


def draw(**options):
    return curves(SIZES, SERIES, size_title="width", value_title="variance", **options)


def test_each_series_is_a_curve_with_a_point_for_each_size():
    first, second = draw()["data"]
    assert first["x"] == second["x"] == [1, 4, 16]
    np.testing.assert_array_equal(first["y"], [1, 4, 16])
    assert second["name"] == "&lt;b&gt;with"
    assert first["line"]["color"] != second["line"]["color"] and first["marker"]["symbol"] != second["marker"]["symbol"]


def test_axes_are_named_and_the_size_doubles_evenly():
    layout = draw()["layout"]
    assert layout["xaxis"]["type"] == "log" and layout["xaxis"]["title"]["text"] == "width"
    assert layout["yaxis"]["range"] == [0, 1.02] and layout["yaxis"]["title"]["text"] == "variance"
    assert draw(log_values=True)["layout"]["yaxis"]["type"] == "log"
