"""The slips, the two sliders and the table: their numbers by hand, and what a user reads."""

import pytest
import torch
from torch.testing import assert_close

from pages.convolution.slips import choice, comparison, sharpness, tap, worked_pair
from tests.running import checked, sentences_of

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


def test_every_slip_passes_checks(open_app):
    for lang in ("en", "zh"):
        app = open_app("convolution", section="slips", source="words", text="a b", lang=lang)
        for slip in choice.SLIPS:
            app.button_group(key="slip").set_value(slip).run()
            assert not app.exception
            n_passed, n = checked(app, "slips")
            assert n_passed == n > 1


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


@pytest.mark.parametrize(("d_v", "fits"), [(1, False), (2, False), (3, True), (6, True)])
def test_head_width_verdict(open_app, d_v, fits):
    """A head is wide enough from the smaller number of channels on."""
    app = open_app("convolution", section="slips", slip="width", slip_width=d_v, source="words", text="a b")
    sentences = [sentence for sentence in sentences_of(app) if "at most rank" in sentence or "is enough" in sentence]
    assert [("is enough" in sentence) for sentence in sentences] == [fits]


def test_a_symmetric_kernel_hides_the_sign(open_app):
    app = open_app("convolution", section="slips", slip="mirrored", slip_kernel="blur", source="words", text="a b")
    assert any("stays unnoticed" in sentence for sentence in sentences_of(app))


def test_a_picture_is_shifted_by_slicing():
    image = torch.arange(6.0).view(1, 2, 3)
    assert tap.cut_out(image, 1, -1)[0].tolist() == [[3.0, 3.0, 4.0], [3.0, 3.0, 4.0]]
    assert tap.cut_out(image, 0, 2, 2)[0].tolist() == [[2.0, 2.0, 2.0], [5.0, 5.0, 5.0]]


def test_torch_reads_kernel_sized_area():
    for k in sharpness.SIZES:
        assert int(sharpness.read_by_torch(k).sum()) == k * k
    assert sharpness.pixels_for(torch.full((11, 11), 1 / 121), 0.9) == 109  # 108.9


@pytest.mark.parametrize(("n", "k", "layers"), [(10, 3, 9), (64, 3, 63), (512, 7, 171), (1, 3, 0), (2, 5, 1)])
def test_a_stack_crosses_a_text(n, k, layers):
    assert comparison.layers_to_cross(n, k) == comparison.crossed(n, k) == layers


def test_the_table_says_what_is_counted(open_app):
    app = open_app("convolution", section="slips", source="words", text="a b c d e f", view="comparison")
    table = next(element.value for element in app.markdown if element.value.startswith("| What is compared"))
    # 3 · 3 · 3 · 4 numbers; 9 heads with two numbers for Δ and one for α; six words crossed one at a time
    assert "108 numbers" in table and "the same 108 in W_O, and 27 for Δ and α" in table
    assert "(6 tokens): 5 layers" in table
    assert "changes by 0;" in table
    assert comparison.shares_near()["even"] == pytest.approx(3 / 13)
