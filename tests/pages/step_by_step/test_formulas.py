"""Numbers in formulas."""

import math

import pytest

from pages.step_by_step.formulas import number, shaped, signed


@pytest.mark.parametrize(
    ("value", "expected_text"),
    [
        (0.0, "0.0000"), (3.83386, "3.8339"), (-12.5, "-12.5000"), (0.001, "0.0010"), (99_999.0, "99999.0000"),
        (1.2345e-7, r"1.2345\times 10^{-7}"), (-2e8, r"-2.0000\times 10^{8}"),
        (-math.inf, r"-\infty"), (math.inf, r"\infty"),
    ],
)  # fmt: skip
def test_number_format(value, expected_text):
    assert number(value) == expected_text


def test_signed_brackets_negative_numbers():
    assert signed(-0.5) == "(-0.5000)"
    assert signed(0.5) == "0.5000"


def test_a_symbol_with_its_shape():
    assert shaped("Q", 3, 17) == r"\underset{3 \times 17}{Q}"
