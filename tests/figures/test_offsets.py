"""Curves over offsets."""

import torch

from viz.figures.offsets import Curve, offset_curves


def test_curve_without_spread_has_no_band():
    """A curve without a spread has no band, and a gap stays a gap."""
    curve = Curve(x=torch.tensor([2, 3]), y=torch.tensor([torch.nan, 5.0]))
    (line,) = offset_curves({"a": curve}, x_title="x", y_title="y").series
    assert (line.low, line.high) == (None, None)
    assert line.y[0] != line.y[0] and line.y[1] == 5


def test_several_curves_have_legend_and_colours():
    curve = Curve(x=torch.arange(3), y=torch.ones(3))
    chart = offset_curves({"a": curve, "b": curve}, x_title="x", y_title="y", limits=(-1, 1))
    assert len(chart.series) == 2
    assert chart.has_legend()
    assert chart.y.limits == (-1, 1)
    assert len({line.colour for line in chart.series}) == 2


def test_many_places_have_no_dots():
    few, many = (
        offset_curves({"a": Curve(x=torch.arange(n), y=torch.ones(n))}, x_title="x", y_title="y") for n in (40, 41)
    )
    assert few.series[0].marker and not many.series[0].marker
