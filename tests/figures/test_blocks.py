"""Frames stand where the heads' blocks are."""

from viz.figures.blocks import Blocks


def test_columns():
    blocks = Blocks(n_heads=3, width=2, along="columns", chosen=1)
    assert [(frame["x0"], frame["x1"]) for frame in blocks.frames()] == [(-0.5, 1.5), (1.5, 3.5), (3.5, 5.5)]
    assert [frame["line"]["width"] for frame in blocks.frames()] == [1, 3, 1]
    assert [(name["x"], name["text"]) for name in blocks.names()] == [(0.5, "0"), (2.5, "<b>1</b>"), (4.5, "2")]


def test_rows():
    blocks = Blocks(n_heads=2, width=3, along="rows", chosen=0)
    assert [(frame["y0"], frame["y1"]) for frame in blocks.frames()] == [(-0.5, 2.5), (2.5, 5.5)]
    assert [name["y"] for name in blocks.names()] == [1.0, 4.0]
