"""A matrix as a heat map: scale, order, gaps, numbers, and labels that stay text."""

import math

import numpy as np
import pytest
import torch
from plotly.graph_objects import Figure

from viz.figures.blocks import Blocks
from viz.figures.layout import LETTERS, SMALL, UPWARDS
from viz.figures.matrix import Axis, matrix
from viz.figures.palette import INK


def draw(values, kind="signed", most=48, **options):
    rows, columns = ([f"{letter}{i}" for i in range(n)] for letter, n in zip("rc", values.shape, strict=True))
    fig = matrix(values, Axis(rows, "query"), Axis(columns, "key", most=most), kind=kind, **options)
    Figure(fig)  # plotly knows every property
    return fig


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
    layout = matrix(torch.zeros(1, 1), Axis(["<b>"], ""), Axis(["#000001"], ""), kind="signed")["layout"]
    assert layout["yaxis"]["ticktext"] == ["&lt;b&gt;"] and layout["xaxis"]["ticktext"] == ["&#35;000001"]
    shown = draw(torch.zeros(1, 640))["layout"]["xaxis"]
    assert 30 < len(shown["ticktext"]) <= 48
    assert shown["ticktext"] == [f"c{place}" for place in shown["tickvals"]]
    few = draw(torch.zeros(1, 17), most=8)["layout"]["xaxis"]
    assert few["ticktext"] == ["c0", "c3", "c6", "c9", "c12", "c15"] and few["tickvals"] == [0, 3, 6, 9, 12, 15]
    assert shown["tickangle"] == few["tickangle"] == UPWARDS


@pytest.mark.parametrize("options", [{}, {"beside": 2}, {"beside": 3, "low": True}, {"low": True}])
@pytest.mark.parametrize("n", [1, 2, 13, 29, 47, 131])
def test_every_row_that_is_named_has_room_for_its_name(n, options):
    layout = draw(torch.zeros(n, 3), **options)["layout"]
    names_above = 150
    assert 1 <= len(layout["yaxis"]["ticktext"]) <= max(1, (layout["height"] - names_above) / SMALL)
    assert layout["height"] <= (520 if options else 720)


def test_beside_others_fewer_columns_are_named_and_gaps_close_sooner():
    alone, beside = (draw(torch.zeros(3, 29), beside=n) for n in (1, 3))
    assert [len(fig["layout"]["xaxis"]["ticktext"]) for fig in (alone, beside)] == [29, 15]
    assert [fig["data"][0]["xgap"] for fig in (alone, beside)] == [1, 0]


def test_the_scale_may_stand_at_another_figure():
    assert draw(torch.zeros(2, 3))["data"][0]["colorbar"]["tickfont"] == LETTERS
    hidden = draw(torch.zeros(2, 3), scale=False)["data"][0]
    assert hidden["showscale"] is False and "colorbar" not in hidden


def test_a_cell_is_read_off_with_its_row_and_column_or_by_its_sentence():
    assert draw(torch.zeros(1, 2))["data"][0]["hovertemplate"].startswith("%{y} → %{x}: ")
    said = draw(torch.zeros(1, 2), hover=[["<i>", "b"]])["data"][0]
    assert said["customdata"] == [["&lt;i&gt;", "b"]]
    assert said["hovertemplate"] == "%{customdata}<extra></extra>"


def test_frames_lie_over_the_cells():
    assert "shapes" not in draw(torch.zeros(2, 3))["layout"]
    (row,) = draw(torch.zeros(2, 3), framed=(1, None))["layout"]["shapes"]
    assert (row["x0"], row["x1"], row["y0"], row["y1"]) == (-0.5, 2.5, 0.5, 1.5)
    row, cell = draw(torch.zeros(2, 3), framed=(1, 2))["layout"]["shapes"]
    assert (cell["x0"], cell["x1"]) == (1.5, 2.5)
    blocks = Blocks(n_heads=3, width=1, along="columns", chosen=0)
    layout = draw(torch.zeros(2, 3), blocks=blocks)["layout"]
    assert (layout["shapes"], layout["annotations"]) == (blocks.frames(), blocks.names())


def test_points_to_click_answer_in_the_cells_stead_and_widen_no_axis():
    hover = [[f"r{i} asks c{j}" for j in range(5)] for i in range(3)]
    fig = draw(torch.zeros(3, 5), hover=hover, clicks=True)
    heat, points = fig["data"]
    assert "customdata" not in heat and len(points["customdata"]) == 15
    assert fig["layout"]["xaxis"]["range"] == [-0.5, 4.5]
    assert fig["layout"]["yaxis"]["range"] == [2.5, -0.5] and fig["layout"]["hoverdistance"] == -1


def test_cells_with_a_letter_are_framed_and_the_letter_is_text():
    layout = draw(torch.zeros(2, 3), letters={(1, 2): "Q", (0, 1): "<b>"})["layout"]
    assert [(box["x0"], box["y0"]) for box in layout["shapes"]] == [(1.5, 0.5), (0.5, -0.5)]
    found = [(note["x"], note["y"], note["text"]) for note in layout["annotations"]]
    assert found == [(2, 1, "<b>Q</b>"), (1, 0, "<b>&lt;b&gt;</b>")]
