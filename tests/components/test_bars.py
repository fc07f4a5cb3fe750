"""The data of a bar chart in the browser."""

import math

import torch

from viz.components.bars import BarChart, pack_bars
from viz.components.unpack import unpack


def test_bars_send_series_and_names():
    """Every series is a row with its exact values; names are sent as written."""
    first, second = torch.tensor([0.25, -math.inf, -3.0]), torch.tensor([1.0, math.nan, 2.0], dtype=torch.float64)
    chart = BarChart(
        labels=("<b>", "#000001", "c"),
        series={"a": first, "$b$": second},
        title="t",
        value_title="v",
        hues=((1, 2, 3),),
    )
    header, blocks = unpack(pack_bars(chart))
    gap = torch.tensor([[0.25, math.nan, -3.0], [1.0, math.nan, 2.0]])
    torch.testing.assert_close(torch.tensor(blocks["values"]).view(2, 3), gap, rtol=0, atol=0, equal_nan=True)
    assert (header["labels"], header["series"]) == (["<b>", "#000001", "c"], ["a", "$b$"])
    assert (header["hues"], header["colours"], header["top"], header["height"]) == ([[1, 2, 3]], None, None, 260)


def test_bars_of_one_series_have_colours():
    """A single series may have a colour for every bar."""
    chart = BarChart(labels=["a"], series={"s": torch.ones(1)}, title="", value_title="v", top=1.0, colours=[(7, 8, 9)])
    header, _ = unpack(pack_bars(chart))
    assert (header["colours"], header["top"]) == ([[7, 8, 9]], 1.0)
