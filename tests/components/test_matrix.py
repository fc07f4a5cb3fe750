"""The data of a matrix in the browser."""

import math

import pytest
import torch

from viz.components.matrix import Axis, Blocks, Matrix, pack_matrix
from viz.components.unpack import unpack

HUES = ((1, 2, 3), (4, 5, 6))


def draw(values, kind="signed", **options):
    rows, columns = (
        Axis([f"{letter}{i}" for i in range(n)], letter) for letter, n in zip("rc", values.shape, strict=True)
    )
    return Matrix(values=values, rows=rows, columns=columns, kind=kind, **options)


def unpacked_message(matrix, **header):
    header, blocks = unpack(pack_matrix(matrix, head_hues=HUES, **header))
    return header, torch.tensor(blocks["values"].reshape(header["shape"]))


@pytest.mark.parametrize(("kind", "end"), [("weights", 1.0), ("signed", 6.0), ("sizes", 6.0)])
def test_colour_scale_ends_at_largest(kind, end):
    """The colour scale ends at 1 for weights and at the largest size otherwise."""
    assert draw(torch.tensor([[-6.0, 1.0, 2.0]]), kind).largest() == end


def test_limit_gives_matrices_one_scale():
    """A limit makes two matrices share a scale."""
    assert [draw(torch.full((1, 2), value), limit=5.0).largest() for value in (0.1, 4.0)] == [5.0, 5.0]


def test_masked_cells_leave_scale_unchanged():
    """Masked cells do not count for the scale; a matrix without cells has one, too."""
    assert draw(torch.tensor([[-math.inf, 2.0, math.nan]])).largest() == 2.0
    assert draw(torch.full((1, 2), -math.inf)).largest() == 1.0
    assert draw(torch.zeros(2, 3)).largest() == 1.0


def test_marks_over_cells():
    header, _ = unpacked_message(draw(torch.zeros(2, 6)))
    assert (header["framed"], header["letters"], header["heads"]) == (None, [], None)
    blocks = Blocks(n_heads=3, width=2, along="columns", chosen=1)
    header, _ = unpacked_message(draw(torch.zeros(2, 6), framed=(1, None), letters={(1, 2): "Q"}, blocks=blocks))
    assert (header["framed"], header["letters"]) == ([1, None], [[1, 2, "Q"]])
    hues = [list(hue) for hue in HUES]
    assert header["heads"] == {"count": 3, "width": 2, "along": "columns", "chosen": 1, "hues": hues}


def test_cells_take_colours_of_heads():
    values, owners = torch.arange(6).view(2, 3), torch.tensor([[0, 0, 1], [1, 2, 2]])
    header, blocks = unpack(pack_matrix(draw(values, "sizes", owners=owners), head_hues=HUES))
    assert blocks["values"].tolist() == list(range(6))
    assert blocks["owners"].tolist() == owners.flatten().tolist()
    assert header["head_hues"] == [list(hue) for hue in HUES]
    header, blocks = unpack(pack_matrix(draw(values, "sizes"), head_hues=HUES))
    assert "head_hues" not in header and list(blocks) == ["values"]
