"""Packed bytes, taken apart and packed anew."""

import torch

from viz.components.head_grid import pack
from viz.components.unpack import repack, unpack


def test_repacked_bytes_are_the_same():
    packed = pack({"a": [1, "b"]}, {"x": torch.tensor([1.5, 2.5, 3.5]), "y": torch.tensor([1, 2, 3]).to(torch.uint16)})
    header, blocks = unpack(packed.data)
    assert header == {"a": [1, "b"]} and blocks["x"].tolist() == [1.5, 2.5, 3.5]
    assert repack(header, blocks) == packed.data
