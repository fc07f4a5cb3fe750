"""Curves over anything, and over layers."""

import numpy as np
import torch

from viz.figures.curves import Curve, curves, depth, over_offsets
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


def test_band_and_baseline_differ_from_series():
    """A band lies between low and high; a baseline differs from the series."""
    heads = torch.tensor([[1.0, 4.0], [3.0, 8.0]])
    band = Curve(name="heads", values=heads.mean(0), low=heads.amin(0), high=heads.amax(0))
    even = Curve(name="even", values=torch.tensor([2.0, 2.0]), baseline=True)
    chart = depth([band, even], x_title="", y_title="", log=True)
    line, grey = chart.series
    assert (line.low, line.high, line.y.tolist()) == ([1.0, 4.0], [3.0, 8.0], [2.0, 6.0])
    assert (grey.low, grey.high) == (None, None)
    assert line.x == grey.x == chart.x.ticks == [0, 1]
    assert "dot" in grey.dash and line.colour != grey.colour and line.marker > grey.marker
    assert chart.has_legend()
    assert chart.y.log and not chart.y.from_zero, "a logarithm of 0 is nowhere"


def test_series_differ_in_hue_and_dash():
    """Series differ in hue and dash; the longest one sets the levels."""
    curves = [Curve(name=name, values=torch.ones(n)) for name, n in (("a", 2), ("b", 5), ("c", 3))]
    chart = depth(curves, x_title="", y_title="", height=131)
    assert [line.x for line in chart.series] == [[0, 1], [0, 1, 2, 3, 4], [0, 1, 2]]
    assert (chart.x.ticks, chart.height) == ([0, 1, 2, 3, 4], 131)
    assert len({line.colour for line in chart.series}) == len({line.dash for line in chart.series}) == 3
    assert depth(curves[:1], x_title="", y_title="").has_legend(), "a curve alone is named, too"


def test_baselines_differ_in_dash():
    first, second = depth(
        [Curve(name=name, values=torch.ones(2), baseline=True) for name in "ab"], x_title="", y_title=""
    ).series
    assert first.colour == second.colour and first.dash != second.dash


def test_many_places_have_no_dots():
    few, many = (
        over_offsets([Curve(name="a", at=torch.arange(n), values=torch.ones(n))], x_title="x", y_title="y")
        for n in (40, 41)
    )
    assert few.series[0].marker and not many.series[0].marker
