"""Numbers on the colours of their heads."""

import torch
from plotly.graph_objects import Figure

from viz.figures.blocks import whose


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
