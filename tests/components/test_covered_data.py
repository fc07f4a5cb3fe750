"""The data of a view under a cover: its picture without the hidden numbers, and labelled when all is visible."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from viz.components.bars import BarChart, pack_bars
from viz.components.cover import Cover, covering
from viz.components.covered_data import cover_data, cover_figure, cover_table
from viz.components.maps import Panel, pack_maps
from viz.components.matrix import Axis, Matrix, pack_matrix
from viz.components.unpack import unpack

WORDS = ("a", "b", "c")
VALUES = torch.tensor([[0.125, 0.25, 0.625], [0.3, 0.4, 0.3], [0.7, 0.2, 0.1]])
PLACES = np.zeros((3, 3), dtype=bool)
PLACES[1, 2] = True
COVER = Cover(labels=WORDS, places=PLACES, numbers=(0.625,), names=frozenset({"c: 0.625"}))
HIDDEN = [2, 5]
"""By its number and by its place."""


def maps() -> bytes:
    panels = [Panel(code="0", title="0.62 of it", alt="0.625", labels=WORDS)]
    return pack_maps(panels, VALUES[None], what="weights", limit=1.0, words={"says": "{query}"}, hues={})


def matrix() -> bytes:
    side = Axis(WORDS, "words")
    picture = Matrix(values=VALUES, rows=side, columns=side, kind="weights")
    return pack_matrix(picture, head_hues=[], words={"alt": "the largest is 0.625"})


@pytest.mark.parametrize("data", [maps(), matrix()], ids=["maps", "matrix"])
def test_covered_map_lacks_hidden_cells(data):
    with covering(COVER):
        header, blocks = unpack(cover_data("key", data))
    assert np.flatnonzero(np.isnan(blocks["values"])).tolist() == header["covers"]["cells"] == HIDDEN
    assert "0.625" not in str(header["words"])


@pytest.mark.parametrize("data", [maps(), matrix()], ids=["maps", "matrix"])
def test_described_map_lists_cells(data):
    with covering(replace(COVER, is_open=False)):
        header, blocks = unpack(cover_data("key", data))
    assert header["covers"] == {"cells": HIDDEN, "open": False, "word": "covered"}
    assert np.allclose(blocks["values"], VALUES.flatten())


def test_bars_of_covered_row_are_covered():
    """A chart of a row whose map is covered there does not say which row it is: all of its covered bars are."""
    row = Cover(labels=WORDS, places=np.array([[False] * 3, [True] * 3, [False] * 3]))
    chart = BarChart(WORDS, {"weight": VALUES[1]}, title="", value_title="")
    with covering(row):
        header, blocks = unpack(cover_data("bars", pack_bars(chart, words={"alt": ""})))
    assert np.isnan(blocks["values"]).all() and header["words"]["alt"] == "covered"


def test_view_without_cover_is_untouched():
    assert cover_data("key", maps()) == maps()


def test_covered_table_and_figure_lack_numbers():
    with covering(COVER):
        assert cover_table({"name": ["x", "y"], "value": [0.625, 0.5], "text": ["62.5%", "50%"]}) == {
            "name": ["x", "y"],
            "value": [None, 0.5],
            "text": ["?", "50%"],
        }
        figure = cover_figure({"data": [{"y": np.array([0.625, 0.5])}], "title": "is 0.62"})
    assert np.isnan(figure["data"][0]["y"]).tolist() == [True, False]
    assert cover_table({"value": [0.625]}) == {"value": [0.625]}


def test_strip_covers_map_of_code():
    with covering(Cover(views=frozenset({"strip.0"}))):
        _, blocks = unpack(cover_data("strip", maps()))
    assert np.isnan(blocks["values"]).all()
