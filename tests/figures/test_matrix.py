"""A matrix as a heat map: scale, order, gaps, numbers, and labels that stay text."""

import math

import numpy as np
import pytest
import torch

from viz.figures.matrix import matrix
from viz.figures.palette import INK


def draw(values, kind="signed", **options):
    rows, columns = ([f"{letter}{i}" for i in range(n)] for letter, n in zip("rc", values.shape, strict=True))
    return matrix(values, rows, columns, kind=kind, row_title="query", column_title="key", **options)


@pytest.mark.parametrize(("kind", "low", "high"), [("weights", 0, 1), ("signed", -6, 6), ("sizes", 0, 6)])
def test_the_scale_is_fixed_for_weights_and_even_around_zero_for_scores(kind, low, high):
    heat = draw(torch.tensor([[-6.0, 1.0, 2.0]]), kind)["data"][0]
    assert (heat["zmin"], heat["zmax"]) == (low, high)


def test_a_limit_makes_two_panels_share_a_scale():
    first, second = (draw(torch.full((1, 2), value), limit=5.0)["data"][0] for value in (0.1, 4.0))
    assert first["zmax"] == second["zmax"] == 5.0


def test_the_first_row_is_on_top_and_titles_say_what_is_what():
    layout = draw(torch.zeros(2, 3))["layout"]
    assert layout["yaxis"]["autorange"] == "reversed"
    assert layout["yaxis"]["title"]["text"] == "query" and layout["xaxis"]["title"]["text"] == "key"
    assert layout["yaxis"]["ticktext"] == ["r0", "r1"] and layout["xaxis"]["ticktext"] == ["c0", "c1", "c2"]


def test_a_masked_cell_is_a_gap_and_does_not_count_for_the_scale():
    heat = draw(torch.tensor([[-math.inf, 2.0]]))["data"][0]
    np.testing.assert_array_equal(heat["z"], [[np.nan, 2.0]])
    assert heat["zmax"] == 2.0
    assert draw(torch.full((1, 2), -math.inf))["data"][0]["zmax"] == 1.0


def test_numbers_are_printed_on_request_in_the_themes_own_ink():
    assert "texttemplate" not in draw(torch.zeros(2, 3))["data"][0]
    assert draw(torch.zeros(2, 3), numbers=True)["data"][0]["textfont"] == {"color": INK}


def test_labels_stay_text_and_thin_out_before_they_overlap():
    heat = matrix(torch.zeros(1, 1), ["<b>"], ["#000001"], kind="signed", row_title="", column_title="")["layout"]
    assert heat["yaxis"]["ticktext"] == ["&lt;b&gt;"] and heat["xaxis"]["ticktext"] == ["&#35;000001"]
    shown = draw(torch.zeros(1, 640))["layout"]["xaxis"]
    assert 30 < len(shown["ticktext"]) <= 64
    assert shown["ticktext"] == [f"c{place}" for place in shown["tickvals"]]
