"""Frames stand where the heads' blocks are."""

import torch

from viz.figures.blocks import mark_blocks
from viz.figures.matrix import matrix


def test_columns_and_rows():
    fig = matrix(torch.zeros(5, 6), list("abcde"), list("012345"), kind="signed", row_title="r", column_title="c")
    columns = mark_blocks(fig, 3, 2, along="columns", chosen=1)["layout"]
    assert [(s["x0"], s["x1"]) for s in columns["shapes"]] == [(-0.5, 1.5), (1.5, 3.5), (3.5, 5.5)]
    assert [n["x"] for n in columns["annotations"]] == [0.5, 2.5, 4.5]
    assert [s["line"]["width"] for s in columns["shapes"]] == [1, 3, 1]
    rows = mark_blocks(fig, 2, 2, along="rows", chosen=0)["layout"]
    assert [(s["y0"], s["y1"]) for s in rows["shapes"]] == [(-0.5, 1.5), (1.5, 3.5)]
    assert "shapes" not in fig["layout"]
