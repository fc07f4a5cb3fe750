"""Figures of a lesson and pictures side by side say what they were given, and names are shown literally."""

import torch

from viz.figures.lesson import centres
from viz.figures.pictures import Panel, pictures, shared_scale


def test_a_path_ends_at_its_head_with_a_disc_as_wide_as_its_window():
    paths = torch.tensor([[[0.0, 0.0], [1.0, 1.0]], [[0.5, -1.0], [1.0, 2.0]]])
    fig = centres(paths, torch.tensor([2.0, 0.5]), x_title="x", y_title="y", head="<head>")
    first = fig["data"][0]
    assert (list(first["x"]), list(first["y"])) == ([0.0, -1.0], [0.0, 0.5])  # columns to the right, rows down
    assert first["hovertemplate"].startswith("&lt;head&gt; 0")
    disc = fig["layout"]["shapes"][0]
    assert (disc["x0"], disc["x1"]) == (-1.5, -0.5)  # 1/sqrt(2 * 2) around -1
    assert fig["layout"]["yaxis"]["range"][0] > fig["layout"]["yaxis"]["range"][1]  # down is down


def test_pictures_keep_their_values_and_their_own_axes():
    panels = [
        Panel(title=f"<{i}>", note="#000001", values=torch.full((2, 3), float(i)), low=0, high=1) for i in range(5)
    ]
    fig = pictures(panels, across=4)
    assert [trace["yaxis"] for trace in fig["data"]] == ["y", "y2", "y3", "y4", "y5"]
    assert fig["data"][3]["z"].tolist() == [[3.0] * 3] * 2
    assert fig["layout"]["annotations"][1]["text"] == "&lt;1&gt;<br>&#35;000001"
    assert fig["layout"]["yaxis5"]["domain"][1] < fig["layout"]["yaxis"]["domain"][0]  # the second row is below


def test_a_shared_scale_spans_all_and_is_never_empty():
    assert shared_scale(torch.tensor([1.0, 2.0]), torch.tensor([-1.0])) == (-1.0, 2.0)
    low, high = shared_scale(torch.zeros(2))
    assert low < high
