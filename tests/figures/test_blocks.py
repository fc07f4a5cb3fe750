"""Frames stand where the heads' blocks are."""

import torch
from plotly.graph_objects import Figure

from viz.figures.blocks import Blocks, whose


def test_columns():
    blocks = Blocks(n_heads=3, width=2, along="columns", chosen=1)
    assert [(frame["x0"], frame["x1"]) for frame in blocks.frames()] == [(-0.5, 1.5), (1.5, 3.5), (3.5, 5.5)]
    assert [frame["line"]["width"] for frame in blocks.frames()] == [1, 3, 1]
    assert [(name["x"], name["text"]) for name in blocks.names()] == [(0.5, "0"), (2.5, "<b>1</b>"), (4.5, "2")]


def test_rows():
    blocks = Blocks(n_heads=2, width=3, along="rows", chosen=0)
    assert [(frame["y0"], frame["y1"]) for frame in blocks.frames()] == [(-0.5, 2.5), (2.5, 5.5)]
    assert [name["y"] for name in blocks.names()] == [1.0, 4.0]


def test_numbers_stand_on_their_heads_colour_and_words_are_shown_literally():
    values, owners = torch.arange(6).view(2, 3), torch.tensor([[0, 0, 1], [1, 2, 2]])
    fig = Figure(whose(values, owners, ["<b>x</b>", "y"], title="", column_title="c"))
    (heat,) = fig.data
    assert [list(row) for row in heat.text] == [[0, 1, 2], [3, 4, 5]]
    assert heat.z.tolist() == owners.tolist()
    scale = dict.fromkeys(colour for _, colour in heat.colorscale)
    assert len(scale) == 3, "one colour for each head"
    at = [stop for stop, _ in heat.colorscale]
    assert at == [0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1], "no shade between two heads"
    assert (heat.zmin, heat.zmax) == (0, 3)
    assert fig.layout.yaxis.ticktext == ("&lt;b&gt;x&lt;/b&gt;", "y")
