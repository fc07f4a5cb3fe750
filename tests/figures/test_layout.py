"""The layout of figures."""

from viz.figures.layout import ROOM, axis, base_layout, larger
from viz.figures.plotly_figure import plotly_figure


def test_presented_figure_has_no_small_letters():
    figure = plotly_figure([{"type": "bar", "x": [1, 2]}], base_layout(400, xaxis=axis("weight"), yaxis=axis("n")))
    larger(figure)
    layout = figure.layout
    sides = [part for side in (layout.xaxis, layout.yaxis) for part in (side.tickfont, side.title.font)]
    assert {font.size for font in (layout.font, layout.legend.font, layout.hoverlabel.font, *sides)} == {ROOM}
    assert layout.height == 500


def test_layouts_share_no_mutable_part():
    first = base_layout(100)
    first["margin"]["t"] = 99
    assert base_layout(100)["margin"]["t"] == 10
