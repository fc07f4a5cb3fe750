"""Numbers in sentences, covered as far as their digits go."""

import pytest

from viz.components.cover import Cover, cover_sentence, covering, current, is_covered


@pytest.mark.parametrize(
    ("numbers", "before", "after"),
    [
        ((0.6789,), "0.68, 0.679, 67.89%, 68 %, 0.67", "?, ?, ?, ?, 0.67"),
        ((0.25,), "in 3 heads, layer 0: 0.25", "in 3 heads, layer 0: ?"),
        ((1048576.0,), "1,048,576 of 2,097,152", "? of 2,097,152"),
        ((-1.5,), "−1.50 and 1.50", "? and 1.50"),
        ((64.0,), "64 columns, d64, 64a, 0.64", "? columns, d64, 64a, 0.64"),
    ],
)
def test_sentence_covers_hidden_numbers_only(numbers, before, after):
    assert cover_sentence(Cover(numbers=numbers), before) == after


def test_cover_ends_with_its_block():
    with covering(Cover()):
        assert is_covered() and current() == Cover()
    assert current() is None and not is_covered()
