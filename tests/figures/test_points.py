"""Three maps with the same rows and columns."""

import numpy as np
import torch

from viz.figures.points import points_map

VALUES = {"mean": torch.tensor([[-1.0, 2.0], [0.0, 0.5], [3.0, -4.0]]), "length": torch.tensor([[1.0, 2.0]] * 3)}


def draw(**options):
    return points_map(
        VALUES,
        ["x", "Add", "Norm"],
        ["<b>", "two"],
        signed=["mean"],
        hover="{token} at {point}: {what} {value}",
        column_title="token",
        **options,
    )


def test_quantity_has_own_map_and_scale():
    mean, length = draw()["data"]
    np.testing.assert_array_equal(mean["z"], VALUES["mean"].numpy())
    assert (mean["zmin"], mean["zmax"]) == (-4, 4)
    assert (length["zmin"], length["zmax"]) == (0, 2)
    assert mean["customdata"][2][0] == "&lt;b&gt; at Norm: mean 3"


def test_maps_are_stacked_with_rows_downwards():
    layout = draw()["layout"]
    first, second = layout["yaxis"], layout["yaxis2"]
    assert first["domain"][0] > second["domain"][1] > second["domain"][0] >= 0
    assert first["autorange"] == second["autorange"] == "reversed"
    assert first["ticktext"] == ("x", "Add", "Norm") and layout["xaxis"]["ticktext"] == ("&lt;b&gt;", "two")
    assert layout["xaxis"]["anchor"] == "y2"


def test_selected_point_is_framed_everywhere():
    assert draw()["layout"]["shapes"] == ()
    shapes = draw(marked_row=2)["layout"]["shapes"]
    assert [(shape["yref"], shape["y0"], shape["y1"]) for shape in shapes] == [("y", 1.5, 2.5), ("y2", 1.5, 2.5)]
