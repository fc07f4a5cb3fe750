"""Curves over offsets, and vectors on a plane."""

import math

import torch

from viz.figures.offsets import Curve, offset_curves
from viz.figures.palette import BLUE, ORANGE
from viz.figures.plane import Arrow, plane


def test_a_curve_with_its_band():
    x, y, spread = torch.tensor([-1, 0, 1]), torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0.5, 0.0, 1.0])
    fig = offset_curves({"<b>": Curve(x=x, y=y, spread=spread)}, x_title="offset", y_title="score", marks=(0,))
    low, high, line = fig["data"]
    assert low["y"].tolist() == [0.5, 2.0, 3.0]
    assert high["y"].tolist() == [1.5, 2.0, 5.0]
    assert (line["x"], line["y"].tolist()) == ([-1, 0, 1], [1.0, 2.0, 4.0])
    assert line["name"] == "&lt;b&gt;"
    assert [shape["x0"] for shape in fig["layout"]["shapes"]] == [0]
    assert not fig["layout"]["showlegend"]


def test_several_curves_have_a_legend_and_their_own_colour():
    curve = Curve(x=torch.arange(3), y=torch.ones(3))
    fig = offset_curves({"a": curve, "b": curve}, x_title="x", y_title="y", limits=(-1, 1))
    assert len(fig["data"]) == 2
    assert fig["layout"]["showlegend"]
    assert fig["layout"]["yaxis"]["range"] == [-1, 1]
    assert len({line["line"]["color"] for line in fig["data"]}) == 2


def test_arrows_start_at_the_origin_and_fit():
    fig = plane(
        [Arrow(name="q", tip=(3.0, -4.0), hue=BLUE), Arrow(name="k", tip=(0.0, 1.0), hue=ORANGE, faint=True)],
        x_title="dimension 0",
        y_title="dimension 1",
    )
    assert (fig["data"][0]["x"], fig["data"][0]["y"]) == ([0, 3.0], [0, -4.0])
    assert fig["data"][1]["line"]["dash"] == "dot"
    assert fig["layout"]["xaxis"]["range"][1] > 5
    assert fig["layout"]["yaxis"]["scaleanchor"] == "x"
    assert sorted(shape["x1"] for shape in fig["layout"]["shapes"]) == [1.0, 5.0]


def test_vectors_of_no_length():
    fig = plane([Arrow(name="q", tip=(0.0, 0.0), hue=BLUE)], x_title="x", y_title="y")
    assert math.isclose(fig["layout"]["xaxis"]["range"][1], 1.0)
