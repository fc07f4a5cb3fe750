"""The slips, the two sliders and the table: their numbers by hand, and what a user reads."""

import torch
from torch.testing import assert_close

from pages.convolution.slips import sharpness, worked_pair

Q, K, CENTRE = torch.tensor([1.0, 4.0]), torch.tensor([3.0, 2.0]), torch.tensor([2.0, -2.0])


def test_the_worked_pair_by_hand():
    """δ = (2, −2): r = (8, 2, −2), v = −(1, −4, 4), and v · r = −8 + 8 + 8; with the other sign −8 − 8 − 8."""
    right, wrong = (worked_pair._side(Q, K, CENTRE, 1.0, sign) for sign in (1, -1))
    assert right.delta.tolist() == [2.0, -2.0] and wrong.delta.tolist() == [-2.0, 2.0]
    assert right.r.tolist() == [8.0, 2.0, -2.0] and wrong.r.tolist() == [8.0, -2.0, 2.0]
    assert right.v.tolist() == wrong.v.tolist() == [-1.0, 4.0, -4.0]
    assert (right.score, wrong.score) == (8.0, -24.0)
    assert divmod(int(right.weights.argmax()), 7) == (3, 2)
    assert divmod(int(wrong.weights.argmax()), 7) == (0, 6)  # (−1, 6) does not exist
    assert_close(float(wrong.weights[3, 2] / right.weights[3, 2]), 0.0, rtol=0, atol=1e-6)


def test_worked_pair_numbers(open_app):
    app = open_app("convolution", section="slips", slip="example", source="words", text="a b", slip_k_row=5)
    assert "| (4, −2) | (−4, 2) |" in _table(app)
    table = _table(open_app("convolution", section="slips", source="words", text="a b", slip="example"))
    for line in (
        "| (2, −2) | (−2, 2) |",
        "| (8, 2, −2) | (8, −2, 2) |",
        "| (−1, 4, −4) | (−1, 4, −4) |",
        "| 8 | −24 |",
    ):
        assert line in table


def _table(app):
    return next(element.value for element in app.markdown if "v · r" in element.value)


def test_torch_reads_kernel_sized_area():
    for k in sharpness.SIZES:
        assert int(sharpness.read_by_torch(k).sum()) == k * k
    assert sharpness.pixels_for(torch.full((11, 11), 1 / 121), 0.9) == 109  # 108.9
