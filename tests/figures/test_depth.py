"""Curves over layers: their places, their gaps, their bands."""

import torch

from viz.figures.depth import Curve, depth


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
