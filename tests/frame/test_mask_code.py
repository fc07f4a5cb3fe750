"""A painted mask comes back from its link, and links from long ago still hold the same masks."""

import pytest
import torch

from viz.frame.mask_code import from_code, to_code

CODES = {
    "1.AA": ["0"],
    "3.m4A": ["4", "6", "7"],
    "8.gEAgEAgEAgE": ["80", "40", "20", "10", "8", "4", "2", "1"],
    "10.u7u7u7u7u7u7u7u7sA": ["2ee", "3bb"] * 5,
    "11._K-F_v_3mJfwyPXqu_TyAA": ["7e5", "3e1", "3fd", "7ff", "3cc", "25f", "619", "f5", "755", "6fd", "1e4"],
    "16.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk": [*["9249", "2492", "4924"] * 5, "9249"],
}
"""Codes of links that were sent around before, and their rows: hexadecimal, the first key the highest bit."""


@pytest.mark.parametrize("code", CODES)
def test_recorded_code_is_stable(code):
    """A recorded code stands for the same mask in every version."""
    mask = from_code(code)
    rows = ["".join("01"[cell] for cell in row) for row in mask.int().tolist()]
    assert rows == [f"{int(row, 16):0{len(mask)}b}" for row in CODES[code]]
    assert to_code(mask) == code


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 13, 32])
def test_every_cell_comes_back(n):
    for seed in range(5):
        mask = torch.rand(n, n, generator=torch.Generator().manual_seed(seed)) < seed / 4
        assert torch.equal(from_code(to_code(mask)), mask)
        assert len(to_code(mask)) <= len(f"{n}.") + -(-4 * -(-n * n // 8) // 3)


@pytest.mark.parametrize(
    "code",
    ["", "3", "3.", ".x4A", "0.x4A", "03.x4A", "-3.x4A", "3.x4", "3.x4AA", "3.x4AAA", "3.x4A=", "3.x+A", "3.x4Á",
     "5.x4A", "3.x4B", "3.x4D", "3.x4A\n", " 3.x4A", "٣.x4A", "3.x 4A", "1e3.AA", "9999.AA", "99999.AA"],
)  # fmt: skip
def test_any_other_code_is_refused(code):
    with pytest.raises(ValueError, match=r"^code="):
        from_code(code)
