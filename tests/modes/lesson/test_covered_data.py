"""The data of a view under a cover: its picture without the hidden numbers, and labelled when all is visible."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from viz.components.maps import Panel, pack_maps
from viz.components.matrix import Axis, Matrix, pack_matrix
from viz.components.unpack import unpack
from viz.modes.lesson.covered_data import Cover, cover_data

WORDS = ("a", "b", "c")
VALUES = torch.tensor([[0.125, 0.25, 0.625], [0.3, 0.4, 0.3], [0.7, 0.2, 0.1]])
PLACES = np.zeros((3, 3), dtype=bool)
PLACES[[0, 1], [2, 2]] = True
COVER = Cover(labels=WORDS, places=PLACES, names=frozenset({"y"}))
HIDDEN = [2, 5]


def maps() -> bytes:
    panels = [Panel(code="0", title="0.62 of it", alt="0.625", labels=WORDS)]
    return pack_maps(panels, VALUES[None], what="weights", limit=1.0, words={"says": "{query}"}, hues={})


def matrix() -> bytes:
    side = Axis(WORDS, "words")
    picture = Matrix(values=VALUES, rows=side, columns=side, kind="weights")
    return pack_matrix(picture, head_hues=[], words={"alt": "the largest is 0.625"})


@pytest.mark.parametrize("data", [maps(), matrix()], ids=["maps", "matrix"])
def test_covered_map_lacks_hidden_cells(data):
    header, blocks = unpack(cover_data(COVER, "key", data))
    assert np.flatnonzero(np.isnan(blocks["values"])).tolist() == header["covers"]["cells"] == HIDDEN


@pytest.mark.parametrize("data", [maps(), matrix()], ids=["maps", "matrix"])
def test_described_map_lists_cells(data):
    header, blocks = unpack(cover_data(replace(COVER, is_open=False), "key", data))
    assert header["covers"] == {"cells": HIDDEN, "open": False, "word": "covered"}
    assert np.allclose(blocks["values"], VALUES.flatten())


def test_covered_table_lacks_named_row():
    table = {"name": ["x", "y"], "value": [0.625, 0.5], "text": ["a", "b"]}
    assert cover_data(COVER, "", table) == {"name": ["x", "y"], "value": [0.625, None], "text": ["a", "?"]}
    assert cover_data(replace(COVER, is_open=False), "", table) == table


def test_strip_covers_map_of_code():
    _, blocks = unpack(cover_data(Cover(views=frozenset({"strip.0"})), "strip", maps()))
    assert np.isnan(blocks["values"]).all()
