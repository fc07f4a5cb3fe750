"""Vectors on a plane."""

from viz.figures.palette import BLUE, ORANGE
from viz.figures.plane import Arrow, plane


def test_arrows_start_at_origin_and_fit():
    chart = plane(
        [Arrow(name="q", tip=(3.0, -4.0), hue=BLUE), Arrow(name="k", tip=(0.0, 1.0), hue=ORANGE, faint=True)],
        x_title="dimension 0",
        y_title="dimension 1",
    )
    q, q_tip, k, k_tip = chart.series
    assert (q.x, q.y, q_tip.x, q_tip.y) == ([0, 3.0], [0, -4.0], [3.0], [-4.0])
    assert (q.dash, k.dash, k.faint, k_tip.faint, q.faint) == ("solid", "dot", True, True, False)
    assert chart.square and chart.x.limits == chart.y.limits and chart.x.limits[1] > 5
    assert sorted(mark.radius for mark in chart.marks) == [1.0, 5.0]


def test_vector_has_one_legend_entry():
    """A vector is in the legend once, and its tip has the tooltip."""
    line, tip = plane([Arrow(name="q", tip=(0.25, 0.5), hue=BLUE)], x_title="x", y_title="y").series
    assert (line.listed, tip.listed) == (True, False)
    assert (line.says, tip.says) == ("", "({x}, {y})")


def test_vectors_of_no_length():
    chart = plane([Arrow(name="q", tip=(0.0, 0.0), hue=BLUE)], x_title="x", y_title="y")
    assert chart.x.limits == (-1.0, 1.0)
    assert not chart.marks
