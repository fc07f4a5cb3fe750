"""Figures of a lesson have the given values, and names are shown literally."""

import torch

from viz.figures.lesson import centres


def test_path_ends_at_its_head():
    """A path ends at its head with a disc as wide as its window."""
    paths = torch.tensor([[[0.0, 0.0], [1.0, 1.0]], [[0.5, -1.0], [1.0, 2.0]]])
    fig = centres(paths, torch.tensor([2.0, 0.5]), x_title="x", y_title="y", head="<head>")
    first = fig["data"][0]
    assert (list(first["x"]), list(first["y"])) == ([0.0, -1.0], [0.0, 0.5])  # columns to the right, rows down
    assert first["hovertemplate"].startswith("&lt;head&gt; 0")
    disc = fig["layout"]["shapes"][0]
    assert (disc["x0"], disc["x1"]) == (-1.5, -0.5)  # 1/sqrt(2 * 2) around -1
    assert fig["layout"]["yaxis"]["range"][0] > fig["layout"]["yaxis"]["range"][1]  # down is down
