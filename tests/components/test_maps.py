"""What the strip of maps is sent."""

import json

import numpy as np
import torch

from viz.components.maps import Panel, pack_maps

PANELS = [Panel(code=code, title=code.upper(), alt=f"map {code}", labels=("<b>", "two", "三")) for code in "ab"]


def unpack(data):
    length = int.from_bytes(data[:4], "little")
    header, at = json.loads(data[4 : 4 + length]), 4 + length
    blocks = {}
    for name, kind, count in header["blocks"]:
        blocks[name] = np.frombuffer(data, np.dtype(kind), count, at)
        at += -(-blocks[name].nbytes // 4) * 4
    return header, blocks


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


def test_maps_that_cannot_be_chosen():
    header, blocks = unpack(pack_maps(PANELS, torch.rand(2, 3, 3), what="weights", limit=1.0))
    assert header["chooses"] is False
    assert list(blocks) == ["values"]


def test_maps_of_two_texts():
    values = torch.rand(1, 2, 5)
    panel = Panel(code="a", title="A", alt="map", labels=("who", "?"), columns=("the", "cat", "sat", "there", "."))
    header, blocks = unpack(pack_maps([panel], values, what="weights", limit=1.0))
    assert (header["rows"], header["n"]) == (2, 5)
    assert header["maps"][0]["columns"] == ["the", "cat", "sat", "there", "."]
    assert np.array_equal(blocks["values"].reshape(1, 2, 5), values.numpy())
