"""The data of a bar chart in the browser."""

import torch

from viz.components.bars import BarChart, pack_bars
from viz.components.unpack import unpack


def test_bars_of_one_series_have_colours():
    """A single series may have a colour for every bar."""
    chart = BarChart(labels=["a"], series={"s": torch.ones(1)}, title="", value_title="v", top=1.0, colours=[(7, 8, 9)])
    header, _ = unpack(pack_bars(chart))
    assert (header["colours"], header["top"]) == ([[7, 8, 9]], 1.0)
