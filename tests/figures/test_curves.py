"""Curves over anything."""

import numpy as np
import torch

from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.figures.palette import BLUE, ORANGE

SIZES = (1, 4, 16)
SERIES = {"without": torch.tensor([1.0, 4.0, 16.0]), "<b>with": torch.tensor([1.0, 0.5, 0.25])}
X, Y = Axis("width", log=True), Axis("variance", limits=(0, 1.02))


def draw(series=SERIES, **options):
    return curves(SIZES, series, x=X, y=Y, **options)


def test_missing_number_leaves_gap():
    """A place without a number is a gap, also in the data that are read back."""
    (line,) = draw({"a": torch.tensor([1.0, torch.nan, torch.inf], requires_grad=True)}).series
    np.testing.assert_array_equal(line.y, [1, np.nan, np.inf])


def test_hues_are_taken_in_order():
    assert [line.colour for line in draw(hues=(ORANGE, BLUE)).series] == [ORANGE, BLUE]


def test_axes_are_those_that_were_given():
    chart = draw()
    assert (chart.x, chart.y, chart.height) == (X, Y, 280)
    assert draw(height=131).height == 131
