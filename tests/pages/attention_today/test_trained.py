"""The view of trained decoders: its numbers are the record's."""

import pytest

from pages.attention_today import trained
from viz.models.trained.today import train as today


def test_even_share_by_hand():
    """Three words: a half in the second row, a third in the third."""
    assert trained.even_share(3) == pytest.approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize("variant", today.VARIANTS)
def test_formula_equals_tensors(variant):
    """The formula counts what the decoder has."""
    model = today.build(variant, today.RECIPE, seed=0)
    assert trained.parameters_by_formula(variant) == sum(parameter.numel() for parameter in model.parameters())
