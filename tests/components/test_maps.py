"""The data of the strip of maps."""

import numpy as np
import pytest
import torch

from viz.components.maps import Panel, Picture, pack_maps, pack_pictures
from viz.components.unpack import unpack

PANELS = [Panel(code=code, title=code.upper(), alt=f"map {code}", labels=("<b>", "two", "三")) for code in "ab"]


def test_maps_arrive_exactly():
    values = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0))
    values[0, 0, 1] = -torch.inf
    profiles = torch.randn(2, 5)
    header, blocks = unpack(
        pack_maps(PANELS, values, what="scores", limit=2.5, profiles=profiles, chosen="b", words={"says": "…"})
    )
    assert np.array_equal(blocks["values"].reshape(2, 3, 3), values.numpy())
    assert np.array_equal(blocks["profiles"].reshape(2, 5), profiles.numpy())
    assert [panel["code"] for panel in header["maps"]] == ["a", "b"]
    assert header["maps"][0]["labels"] == ["<b>", "two", "三"]
    assert (header["n"], header["what"], header["limit"], header["chosen"], header["chooses"]) == (
        3,
        "scores",
        2.5,
        "b",
        True,
    )
    assert header["words"] == {"says": "…"}


def test_maps_without_selection():
    header, blocks = unpack(pack_maps(PANELS, torch.rand(2, 3, 3), what="weights", limit=1.0))
    assert header["chooses"] is False
    assert list(blocks) == ["values"]


def test_pictures_keep_values_and_scales():
    """Pictures are sent exactly, every one with its own scale."""
    first, second = torch.rand(5, 3), torch.randn(5, 3)
    pictures = [
        Picture(title="<in>", values=first, low=0.0, high=1.0),
        Picture(title="", values=second, low=-2.0, high=2.0, signed=True),
    ]
    header, blocks = unpack(pack_pictures(pictures, alt="both", words={"says": "…"}))
    assert np.array_equal(blocks["values"].reshape(2, 5, 3), torch.stack([first, second]).numpy())
    assert (header["rows"], header["n"], header["what"]) == (5, 3, "pictures")
    assert header["scales"] == [{"low": 0.0, "high": 1.0, "signed": False}, {"low": -2.0, "high": 2.0, "signed": True}]
    assert [map_["alt"] for map_ in header["maps"]] == ["<in>. both", "both"]
    assert (header["maps"][1]["labels"], header["maps"][1]["columns"]) == (["0", "1", "2", "3", "4"], ["0", "1", "2"])


def test_pictures_of_two_sizes_are_refused():
    sizes = [Picture(title="", values=torch.rand(3, columns), low=0.0, high=1.0) for columns in (3, 5)]
    with pytest.raises(RuntimeError, match="equal size"):
        pack_pictures(sizes, alt="")
