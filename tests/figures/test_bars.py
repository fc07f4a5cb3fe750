"""Bars: one for each label and series, with labels upright where they fit."""

import math

import numpy as np
import pytest
import torch

from viz.figures.bars import bars


def draw(labels, **options):
    return bars(labels, {"<b>": torch.arange(float(len(labels)))}, title="key", value_title="weight", **options)


def test_a_bar_for_each_label_and_a_gap_where_there_is_no_number():
    (trace,) = bars(["<i>", "b"], {"a": torch.tensor([0.5, -math.inf])}, title="", value_title="")["data"]
    np.testing.assert_array_equal(trace["y"], [0.5, np.nan])
    assert (trace["x"], trace["customdata"]) == ([0, 1], ["&lt;i&gt;", "b"])


@pytest.mark.parametrize(
    ("labels", "angle"),
    [
        (["with", "without"], 0),
        (["ten_letter"] * 4, 0),
        (list("0123456789"), 0),
        (["ten_letter"] * 5, -60),
        (["a much longer sentence", "b", "c"], -60),
        (["注意力头注意力头"] * 4, -60),
        ([str(i) for i in range(100)], -60),
        ([], 0),
    ],
)
def test_labels_stand_upright_where_they_fit(labels, angle):
    assert draw(labels)["layout"]["xaxis"]["tickangle"] == angle


def test_of_many_labels_some_are_written():
    shown = draw([f"w{i}" for i in range(100)])["layout"]["xaxis"]
    assert len(shown["tickvals"]) <= 48
    assert shown["ticktext"] == [f"w{i}" for i in shown["tickvals"]]


def test_colours_and_the_end_of_the_axis():
    fig = draw(["a", "b"], colours=[(1, 2, 3), (4, 5, 6)], top=1.0)
    assert fig["data"][0]["marker"]["color"] == ["rgba(1,2,3,0.900)", "rgba(4,5,6,0.900)"]
    assert fig["layout"]["yaxis"]["range"] == [0, 1.0]
    assert not fig["layout"]["showlegend"]
