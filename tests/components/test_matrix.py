"""What a matrix in the browser is sent."""

import math

import pytest
import torch

from tests.components.test_maps import unpack
from viz.components.matrix import Axis, Blocks, Matrix, numbered, pack_matrix

HUES = ((1, 2, 3), (4, 5, 6))


def draw(values, kind="signed", **options):
    rows, columns = (
        Axis([f"{letter}{i}" for i in range(n)], letter) for letter, n in zip("rc", values.shape, strict=True)
    )
    return Matrix(values=values, rows=rows, columns=columns, kind=kind, **options)


def sent(drawn, **header):
    header, blocks = unpack(pack_matrix(drawn, head_hues=HUES, **header))
    return header, torch.tensor(blocks["values"].reshape(header["shape"]))


@pytest.mark.parametrize(("kind", "end"), [("weights", 1.0), ("signed", 6.0), ("sizes", 6.0)])
def test_colours_end_at_1_for_weights_and_at_the_largest_size_for_all_else(kind, end):
    assert draw(torch.tensor([[-6.0, 1.0, 2.0]]), kind).largest() == end


def test_a_limit_makes_two_matrices_share_a_scale():
    assert [draw(torch.full((1, 2), value), limit=5.0).largest() for value in (0.1, 4.0)] == [5.0, 5.0]


def test_a_masked_cell_does_not_count_for_the_scale_and_nothing_to_show_has_one_too():
    assert draw(torch.tensor([[-math.inf, 2.0, math.nan]])).largest() == 2.0
    assert draw(torch.full((1, 2), -math.inf)).largest() == 1.0
    assert draw(torch.zeros(2, 3)).largest() == 1.0


def test_cells_arrive_as_they_are_and_names_as_they_were_written():
    values = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    values[1, 2] = -math.inf
    names = Axis(["<b>", "#000001", "{value}"], "who looks")
    drawn = Matrix(values=values, rows=names, columns=numbered(5, "place"), kind="signed", hover="{row}, {named}")
    header, cells = sent(drawn, words={"alt": "…"}, chooses=True)
    assert torch.equal(cells, values)
    assert header["rows"] == {"labels": ["<b>", "#000001", "{value}"], "count": 3, "title": "who looks"}
    assert header["columns"] == {"labels": None, "count": 5, "title": "place"}, "the browser counts"
    assert (header["hover"], header["words"], header["chooses"]) == ("{row}, {named}", {"alt": "…"}, True)


def test_what_lies_over_the_cells():
    header, _ = sent(draw(torch.zeros(2, 6)))
    assert (header["framed"], header["letters"], header["heads"]) == (None, [], None)
    blocks = Blocks(n_heads=3, width=2, along="columns", chosen=1)
    header, _ = sent(draw(torch.zeros(2, 6), framed=(1, None), letters={(1, 2): "Q"}, blocks=blocks))
    assert (header["framed"], header["letters"]) == ([1, None], [[1, 2, "Q"]])
    hues = [list(hue) for hue in HUES]
    assert header["heads"] == {"count": 3, "width": 2, "along": "columns", "chosen": 1, "hues": hues}


def test_cells_may_stand_in_the_colours_of_their_heads():
    values, owners = torch.arange(6).view(2, 3), torch.tensor([[0, 0, 1], [1, 2, 2]])
    header, blocks = unpack(pack_matrix(draw(values, "sizes", owners=owners), head_hues=HUES))
    assert blocks["values"].tolist() == list(range(6))
    assert blocks["owners"].tolist() == owners.flatten().tolist()
    assert header["head_hues"] == [list(hue) for hue in HUES]
    header, blocks = unpack(pack_matrix(draw(values, "sizes"), head_hues=HUES))
    assert "head_hues" not in header and list(blocks) == ["values"]
